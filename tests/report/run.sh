#!/usr/bin/env bash
# Makes the report of a few small measurements. All results must be on the page. A browser must find no fault in it, and
# must find every fault planted in a copy. Exit code 77 (not run) without a browser. Usage: tests/report/run.sh
# path/to/normlab. SPDX-License-Identifier: MIT
program=$(realpath "$1")
. "$(dirname "$0")/../shell/browser.sh"
python3 -c 'import jinja2, matplotlib' 2>/dev/null || { echo "this Python lacks Jinja2 or Matplotlib"; exit 77; }
results=$folder/results page=$folder/report/index.html
mkdir "$results"

make() { # NAME COMMAND ARGUMENT...: makes results
    "$program" "$2" --quick "${@:3}" --out "$results/$1.csv" &>"$folder/log" || fail "$*" "$(cat "$folder/log")"
}
make ladder bench '{layernorm,rmsnorm,batchnorm}/forward/f32/{64x64,64x128}/normal'
make ln_vs_rms study ln_vs_rms
make museum check experiments/museum.txt
make gradients study gradients
make rmsnorm2019 study rmsnorm2019

python3 plots/deck.py "$results" gradients ln_vs_rms museum rmsnorm2019 >/dev/null 2>"$folder/log" || fail "no slides" "$(cat "$folder/log")"
# A user's chart is drawn, or the command names what is missing.
chart() { # ARGUMENT...: draws a chart of the ladder
    python3 plots/chart.py "$results/ladder.csv" --x impl --y ns --by op --out "$folder/chart" "$@" 2>&1
}
chart --filter c=64 --filter 'impl=optimized/rows_[sp]*' --filter 'op=*norm' >/dev/null || fail "no chart"
[[ -s $folder/chart.png && -s $folder/chart.svg && -s $folder/chart.pdf ]] || fail "no files of the chart"
for said in "--filter 'c=64' (it also is '128')|--filter isa=c" "leaves nothing|--filter op=none" \
    "should be COLUMN=GLOB|--filter beauty=7" "curves cannot be told apart|--by impl --x c --filter op=layernorm"; do
    # shellcheck disable=SC2046
    found=$(chart $(cut -d'|' -f2 <<<"$said")) && fail "a chart of ${said#*|}"
    [[ $found == *"${said%%|*}"* ]] || fail "a chart says $found, not ${said%%|*}"
done
refuses() { # WORDS ARGUMENT...: expects that a chart fails, with one line that has WORDS
    found=$(python3 plots/chart.py "${@:2}" --out "${out:-$folder/refused}" 2>&1 >/dev/null) && fail "a chart of ${*:2}"
    [[ $found == *"$1"* && $(grep -v '^  to make' <<<"$found" | wc -l) == 1 ]] || fail "a chart of ${*:2} says $found, not $1"
}
printf 'n,y,by\n0,1,a\n1,0,a\n2,-1,a\n' >"$folder/zero.csv"
printf 'n,y,by\n1,2,$\\frac{$\n2,3,\xe9\n' >"$folder/odd.csv"
printf 'n,y,by\n1,2,a\n2,3\n' >"$folder/cut.csv"
for name in zero odd cut; do echo 'cpu: some' >"$folder/$name.machine.txt"; done
refuses "n is 0 in 1 of 3 rows" "$folder/zero.csv" --x n --y y --by by --log x
refuses "y is 0 in 2 of 3 rows" "$folder/zero.csv" --x n --y y --by by --log y
refuses "cut.csv:3: has 2 fields, not 3" "$folder/cut.csv" --x n --y y --by by
refuses "columns are missing: beauty; there are op pass dtype n c s data options case impl" docs/machines/zen4.csv --x n --y beauty --by file
refuses "--xlim 5 1: should be two numbers, the lower first" "$folder/odd.csv" --x n --y y --by by --xlim 5 1
refuses "a file is there twice" "$folder"/{odd,odd}.csv --x n --y y --by file
refuses "and such an axis has no ends" "$folder/odd.csv" --x by --y y --by by --xlim 1 5
refuses "Is a directory" "$folder" --x n --y y --by by
out=$folder/zero.csv/chart refuses "cannot write it: Not a directory" "$folder/odd.csv" --x n --y y --by by
python3 plots/chart.py "$folder/odd.csv" --x n --y y --by by --title 'Costs $5 and $6' --out "$folder/odd" 2>&1 >/dev/null |
    grep . && fail "a chart with a dollar"
cp docs/machines/zen4.csv "$folder/here.csv" && echo 'cpu: some' >"$folder/here.machine.txt"
python3 plots/chart.py "$folder/here.csv" docs/machines/{zen4,zen5}.csv --x n --y ns --by file --filter op=layernorm,none --filter pass=forward \
    --filter dtype=f32 --filter c=1024 --log xy --xlim 1 99 --note 'A note & more' --out "$folder/three" >/dev/null || fail "no chart of three files"
for words in '>here<' '>zen5<' 'A note &amp; more' 'rows, log scale' 'outside the axes: '; do
    grep -q "$words" "$folder/three.svg" || fail "the chart of three files lacks $words"
done

report() { # RESULTS
    python3 scripts/report.py --results "$1" --out "$page" --program "$program"
}

mkdir "$folder/none" && if report "$folder/none" 2>/dev/null; then fail "made of nothing"; fi
cat >"$results/claims.csv" <<'CSV'
name,claim,source,quantity,unit,predicate_low,predicate_high,margin,setting,how,case,verdict,value,low,high,aa_band,rounds,why,skipped,first,answer,sentence,where,outcome
one,"one <b> & two","[it](https://example.org/?a=1&b=2) or [this](javascript:alert)",saving,%,-inf,7,2,0,simd,forward/f32/64x1024/normal,REFUTED,12.34,12,13,0.5,20,because,,first,FAILS,"The effect is larger than claimed: RMSNorm saves 12.3 % (SIMD, in L2).","SIMD, in L2",more
two,never run,nobody,saving,%,-inf,7,2,0,simd,forward/f32/64x1024/normal,NOT RUN,,,,,0,,left out by --quick,first,NOT RUN,"SIMD, in L2: left out by --quick.","SIMD, in L2",not run
CSV
cat >"$results/ablation.csv" <<'CSV'
study,panel,series,x,y
ablation,"loss, rate 0.1","full, seed 0",0,2.3
ablation,errors after 60 steps,"full, seed 0",0.1,0.9
CSV
sed 's/^doctor: .*/doctor: of an untimed run/; s/^date: .*/date: 9999-01-01/' "$results/rmsnorm2019.machine.txt" \
    >"$results/ablation.machine.txt"
python3 plots/chart.py "$results/claims.csv" --x where --y value --by name --out "$folder/claims" &>"$folder/log" ||
    fail "no chart of claims" "$(cat "$folder/log")"
[[ $(report "$results") == "report: $page" ]] || fail "the report does not print the page's path"
has() {
    grep -qF -- "$1" "$page" || fail "the page lacks $1"
}
for name in museum ln_vs_rms gradients rmsnorm2019; do
    has "id=\"$name-slide\""
    has "download=\"$name.csv.gz\""
done
lacks() {
    ! grep -qF -- "$1" "$page" || fail "the page has $1"
}
has 'In float a difference quotient is right to '
has '<strong>QUICK</strong>: '
has '<strong class="bad">QUICK</strong>, a first look'
has 'Of 2 claims, 1 fail, 1 were not run.'
has 'Not measured: 4 x 1024, 16384 x 1024.'
for file in experiments/*.txt; do has "id=\"$(basename "$file" .txt)-experiment\""; done
has 'one &lt;b&gt; &amp; two'
has 'href="https://example.org/?a=1&amp;b=2"'
lacks 'href="javascript:'
has '<td class="bad" data-label="answer">FAILS'
has 'The effect is larger than claimed: RMSNorm saves 12.3 % (SIMD, in L2). because'
has '<td class="bad">REFUTED'
has '&lt; 7 %'
has '12.3 [12, 13] % less'
has 'rows_pipelined.c">pipelined</a>'
has 'https://github.com/pytorch/pytorch/issues/51102'
has "$(sed -n 's/^doctor: //p' "$results/rmsnorm2019.machine.txt")"
lacks 'of an untimed run'
data=$(grep -oP '(?<=href="data:application/gzip;base64,)[^"]+(?=" download="gradients.csv.gz")' "$page")
base64 -d <<<"$data" | gunzip | cmp - "$results/gradients.csv" || fail "what is downloaded is not the data"

sed -i 's/^quick: .*/quick: no/' "$results"/*.machine.txt
cp "$results/slides/light/"{rmsnorm2019,headline}.png
for at in 'simd,forward/f32/64x1024/normal,REFUTED,28.1,27,29,0.1,9,,,,FAILS,,"SIMD, in L2",more' \
    'streaming,forward/f32/16384x1024/normal,SAME,0.5,-1,2,0.1,9,,,,FAILS,,"SIMD, 16384 x 1024 from memory",less' \
    'simd,forward/f32/4x1024/normal,NOT RESOLVED,33,-5,40,0.1,9,,,,FAILS,,"SIMD, in L1",less' \
    'unfused,forward/f32/16384x1024/normal,REFUTED,-250,-260,-240,0.1,9,,,,FAILS,,"unfused, from memory",less'; do
    echo "one,,,saving,%,-inf,7,2,1,$at"
done >>"$results/claims.csv"
report "$results" >/dev/null
lacks QUICK
has 'On this machine (a first look, of one process), RMSNorm’s time against LayerNorm’s: 3.5 times as long unfused. Fused, with SIMD and one-pass statistics: not resolved (40 % less to 5 % longer) at 4 x 1024 (32 KiB), 28 % less'
has '28 % less at 64 x 1024 (512 KiB). Streamed, at 16384 x 1024 (128 MiB): the same from memory.'
has '0.5 to 28 % less</dd>'
has 'times as fast as the formula as printed'

# Damaged results are named and left out; other results stay.
cp -r "$results" "$folder/damaged"
truncate -s -20 "$folder/damaged/ladder.csv"
sed -i 's/^gradients,\([^,]*,[^,]*\|"[^"]*","[^"]*"\),.*/gradients,a,b,much,more/' "$folder/damaged/gradients.csv"
printf '\xff,' | cat - "$folder/damaged/claims.csv" >"$folder/claims.csv" && mv "$folder/claims.csv" "$folder/damaged/claims.csv"
printf 'PNG' >"$folder/damaged/slides/light/rmsnorm2019.png"
report "$folder/damaged" >/dev/null 2>"$folder/log" && fail "the report of damaged results says all is well"
for name in ladder.csv gradients.csv claims.csv; do
    grep -q "^left out: .*$name" "$folder/log" || fail "the report does not say that $name is damaged" "$(cat "$folder/log")"
done
grep -q Traceback "$folder/log" && fail "$(cat "$folder/log")"
has '<strong>Left out</strong>: '
has 'id="ln_vs_rms-slide"'
report "$results" >/dev/null

needs_browser "the page is right as far as it can be read; to open it"
needs_axe
browse tests/report/browser.py "$page" "$results" ${SHOTS:+--shots "$SHOTS"} "${axe[@]}"
python3 - "$page" "$folder/report/spoilt.html" <<'PYTHON'
import sys
from pathlib import Path
text = Path(sys.argv[1]).read_text()
text = text.replace('id="gradients-slide"', 'id="rmsnorm2019-slide"')
text = text.replace("<body>", '<body><button>first</button><div style="width: 900px; color: #ddd; '
                    'background: #fff; font-size: 9px">pale, small and wide</div><a href="#gone">x</a>')
text = text.replace("default-src 'none'", "default-src *", 1).replace("img-src data:", "img-src * data:", 1)
text = text.replace("<dd>", '<dd style="white-space: nowrap">−1000 to 1000 % ', 1)
text = text.replace("</main>", '<img src="http://127.0.0.1:9/x.png"></main>')
Path(sys.argv[2]).write_text(text)
PYTHON
! browse tests/report/browser.py "$folder/report/spoilt.html" "$results" "${axe[@]}" 2>"$folder/said" ||
    fail "the browser finds nothing wrong with a page that is spoilt"
sees "no picture gradients" "there twice: ['rmsnorm2019-slide'" "nowhere: ['gone'" "pixels wide" "contrast" \
    "letters below" "printed over" "cut off: ['DIV" "on A4" ${axe:+"axe: image-alt"} "on the console" "asks for http://127.0.0.1:9/x.png" "skip link"
