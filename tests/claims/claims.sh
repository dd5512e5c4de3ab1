#!/usr/bin/env bash
# Tests `normlab claims` as a user sees it: exit codes, verdicts, CSV, errors.
# Usage: tests/claims/claims.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
under_test=claims
mkdir -p experiments && ln -s "$root/experiments/claims" experiments/claims

verdict() { # verdict FILE SETTING VERDICT: in this setting, the first claim in the CSV has this verdict
    check "  setting $2 is $3" "$(python3 - "$@" <<'P'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
got = [row["verdict"] for row in rows if row["setting"] == sys.argv[2]]
if got[:1] != [sys.argv[3]]: print(got)
P
)"
}

exits "--help" 0 --help
for word in --out --seconds --quick saving unfused 'NOT RESOLVED' 'normlab claims seven_to_fifteen'; do
    check "  has $word" "$(grep -qF -- "$word" stdout || shows head -3 stdout)"
done

exits "counted claims" 0 one_float_less parameters two_scans identity qwen_at_start halved_traffic \
    data_movement more_stable rsqrt_exact saves_memory
says "10 claims: 4 HOLDS, 2 FAILS, 4 DEPENDS, 0 NOT RESOLVED, 0 NOT RUN"
check "  a header" "$(head -1 stdout | grep -q '^name,claim,source,quantity,unit,predicate_low,predicate_high,margin,share,setting,how,case,verdict,value,low,high,aa_band,rounds,why,skipped,first,answer,sentence,where,outcome,passes$' || shows head -1 stdout)"
verdict stdout 0 SUPPORTED

reports "timed ones, into a file" 0 "results: claims.csv" seven_to_fifteen rsqrt_faster --quick --seconds 0.001 --out claims.csv
check "  a table" "$(grep -q '^seven_to_fifteen: RMSNorm is 7 to 15 % faster' stdout || shows head -3 stdout)"
check "  an answer in words" "$(grep -q '^  [A-Z ]*: .*RMSNorm \(saves\|takes\) .* (SIMD, ' stdout || shows head -5 stdout)"
check "  has intervals and A/A" "$(grep -q 'simd .*\[.*A/A' stdout || shows head -5 stdout)"
check "  the machine beside it" "$(grep -q '^cpu: ' claims.machine.txt 2>&1 || ls)"
check "  and that it was quick" "$(grep -qx 'quick: yes' claims.machine.txt || shows cat claims.machine.txt)"
check "  what --quick leaves out says so" "$(grep -q 'left out by --quick' claims.csv || shows head -5 claims.csv)"

printf 'claim: A layer takes as long as itself, or longer\nsource: a test\nquantity: saving\npredicate: < 200\nmargin: 0\nwhere: naive forward/f32/4x64/normal\n' > mine.txt
exits "a claim of one's own" 0 mine.txt --seconds 0.001
verdict stdout 0 SUPPORTED
sed -i 's/< 200/> 200/' mine.txt
exits "and its opposite" 0 mine.txt --seconds 0.001
verdict stdout 0 REFUTED

counted() { # counted NAME CODE QUANTITY PREDICATE WHERE
    printf 'claim: x\nsource: a test\nquantity: %s\npredicate: %s\nmargin: 1\nwhere: %s\n' "${@:3}" > counted.txt
    exits "$1" "$2" counted.txt
}
counted "the traffic of two ways of executing" 0 traffic '< 0' 'unfused_rms forward/f32/64x1024/normal'
verdict stdout 0 SUPPORTED
prints "RMSNorm moves 3.5 times the bytes"
counted "  where nobody counted it" 1 traffic '< 0' 'unfused forward/f16/64x1024/normal'
says "are known only for forward in f32"
counted "half of a number" 1 norm_inputs '> 1' t1x
says "should be t1, t2"
counted "  and infinity" 1 norm_inputs '> 1' tinf
counted "a word that is none" 1 ones '> 1' 'sighs forward/f32/4x8/normal'
says "should be average or size"
counted "forward of what is about backward" 1 from_y '> 1' '- forward/f32/4x8/normal'
says "this quantity is defined only for backward"
counted "  and the other way round" 1 scans '= 2' '- backward/f32/4x8/normal'
counted "the count of a gated norm" 0 gated_outputs '= 5' layer # 4096 of 36864 + 41472
prints "The norm's outputs are 5.23 % of the activations (a layer)"
counted "  of half a layer" 1 gated_outputs '= 5' half
counted "errors of which both are 0" 0 error_ratio '> 4' 'scalar forward/f32/4x8/zeros'
verdict stdout 0 SAME

name=$(printf 'é%.0s' {1..40})
printf 'claim: Sch\xf6n\nsource: a test\nquantity: parameters\npredicate: = 1\nmargin: 0\nwhere: - forward/f32/4x8/normal\n' > "$name.txt"
exits "a long name, and text in Latin-1" 0 "$name.txt"
check "  the name ends between two characters" "$(head -2 stdout | tail -1 | cut -d, -f1 | iconv -f utf-8 -t utf-8 2>&1 >/dev/null)"

printf 'claim: x\nsource: a test\nquantity: saving\npredicate: < -10\nmargin: 1\nwhere: pytorch forward/f32/4x64/normal\nwhere: jax forward/f32/4x64/normal\n' > there.txt
header=how,case,verdict,log_ratio,log_low,log_high,aa_band,rounds,why
printf '%s\n' $header pytorch,forward/f32/4x64/normal,ok,1,0.9,1.1,0.01,50, > there.csv
exits "measured in a framework" 0 there.txt --measured there.csv
verdict stdout 0 SUPPORTED
check "  its figure" "$(grep -q -- '-171.8' stdout || shows cat stdout)"
verdict stdout 1 'NOT RUN'
check "  and not in another" "$(grep -q 'jax.*python -m normlab.frameworks' stdout || shows cat stdout)"
printf '%s\n' $header pytorch,forward/f32/4x64/normal,fail,,,,,0,"y is wrong" > there.csv
exits "wrong in a framework" 1 there.txt --measured there.csv
verdict stdout 0 'NOT RUN'
check "  says what" "$(grep -q 'fail: y is wrong' stdout || shows cat stdout)"
sed -i 's/log_low/low/' there.csv
refuses "a file without a column" "there.csv:1: the column log_low is missing" there.txt --measured there.csv

# Makes three passes of this processor on these kernels, with known figures.
printf 'claim: x\nsource: a test\nquantity: saving\npredicate: > 5\nmargin: 1\nwhere: simd forward/f32/4x64/normal\n' | tee mine.txt > ./-x.txt
exits "one pass" 0 mine.txt --seconds 0.001 --passes 1 --evidence ev
check "  is a first look" "$(grep -q 'FIRST LOOK' stdout || shows cat stdout)"
check "  is a folder" "$([ "$(cat ev/*/races.csv | wc -l)" -eq 2 ] && ls ev/*/machine.txt | wc -l | grep -vx 1)"
check "  with several visits" "$(tail -1 ev/*/races.csv | grep -qE ',[2-4]$' || shows cat ev/*/races.csv)"
kernels=$(sed -n 's/^kernels: //p' ev/*/machine.txt)
check "  says how many races it has" "$(grep -qx 'races: 1' ev/*/machine.txt || shows tail -2 ev/*/machine.txt)"
sound() { python3 -c 'import pathlib, sys; sys.path.insert(0, sys.argv[1]); import files; print(*map(files.sound, pathlib.Path("ev").glob("*/races.csv")))' "$root/plots"; }
check "  is as it was written" "$(sound | grep -vx True)"
cp -r ev whole
for change in '$s/simd/simp/ races.csv' '$s/,[0-9]*,,/,7,,/ races.csv' 's/^date: 202./date: 2020/ machine.txt'; do
    sed -i "${change% *}" ev/*/"${change##* }"
    reports "a pass after $change is damaged" 1 "the machine.txt beside it has changed" mine.txt --evidence ev
    check "  for plots, too" "$(sound | grep -vx False)"
    rm -r ev && cp -r whole ev
done
check "  knows the kernels" "$([ "${#kernels}" -eq 12 ] || echo "'$kernels'")"
made() { # made PASS DAY RATIO [KERNELS]
    mkdir -p ev/$1
    printf 'kernels: %s\ndate: 2026-01-%sT00:00:00Z\nquick: no\n' "${4:-$kernels}" $2 > ev/$1/machine.txt
    printf '%s\nsimd,forward/f32/4x64/normal,ok,%s,-0.9,0.9,0.5,50,,0\n' $header,log_aa $3 > ev/$1/races.csv
}
rm -r ev
header=how,case,verdict,log_ratio,log_low,log_high,aa_band,rounds,why
for i in 1 2 3; do made p$i 0$i -0.10$i; done
made old 01 -0.5 000000000000
mkdir ev/.p5.part
exits "three passes" 0 mine.txt --evidence ev --out pooled.csv
check "  their middle and their interval" "$(python3 - <<'P'
import csv, math
row, = csv.DictReader(open("pooled.csv"))
half = 4.303 * 0.001 / math.sqrt(3)
want = [100 * -math.expm1(-0.102 + d) for d in (0, half, -half)]
got = [float(row[k]) for k in ("value", "low", "high")]
if any(abs(a - b) > 1e-3 for a, b in zip(got, want)) or row["passes"] != "3" or row["answer"] != "HOLDS": print(row)
P
)"
says "pooled: 3 passes in 3 sittings over 48.0 h"
says "left out: 1 pass, on other kernels"
says "left out: 1 pass, not ended"
check "  how many, beside the results" "$(grep -qx 'passes: 3 in 3 sittings over 48.0 h' pooled.machine.txt || shows tail -3 pooled.machine.txt)"
left_out() { # left_out NAME WORDS COMMAND...: expects that a fourth pass, which COMMAND changes, is left out
    made p4 04 -0.104
    (cd ev/p4 && "${@:3}")
    reports "$1 is left out" 0 "pooled: 3 passes in 3 sittings" mine.txt --evidence ev
    says "left out: 1 pass$2"
    rm -r ev/p4
}
damaged() { left_out "a pass $1" ", damaged, the last: ev/p4/races.csv$2" "${@:3}"; }
damaged "cut within its last number" ":2: the last line is cut off" truncate -s -2 races.csv
damaged "cut after its header" ": has 0 races, not one or more" sed -i 2d races.csv
damaged "without races" ": cannot read it" rm races.csv
damaged "without facts" ": the machine.txt beside it has no date" rm machine.txt
damaged "with a pipe as facts" ": the machine.txt beside it has no date" sh -c 'rm machine.txt && mkfifo machine.txt'
damaged "with fewer races than it says" ": has 1 races, not 2" sed -i '1i races: 2' machine.txt
for year in 9999 0000 202x; do
    damaged "of the year $year" ": the machine.txt beside it has no date" sed -i "s/2026/$year/" machine.txt
done
damaged "of February 30" ": the machine.txt beside it has no date" sed -i s/01-04/02-30/ machine.txt
left_out "a copy" ", copied from others" cp ../p3/races.csv ../p3/machine.txt .
for fact in 'cpu: x' 'family: 6, model 1' 'cpus: 4 online' 'caches: L1 32K' 'isa: c' 'threads: OpenMP, 1'; do
    sed -i "1i ${fact%%:*}: y" ev/p[123]/machine.txt
    left_out "a pass of $fact" ", with another processor, cpus, caches, threads or instruction set" sed -i "1i $fact
        s/2026-01-04/2026-01-01/" machine.txt
    sed -i 1d ev/p[123]/machine.txt
done
made same 03 -0.1031
reports "another of the same day" 0 "pooled: 4 passes in 3 sittings" mine.txt --evidence ev
rm -r ev/same
made p1 03 -0.101
reports "three passes in two sittings" 0 "fewer than 3 sittings: the intervals cover the passes" mine.txt --evidence ev
made p1 01 -0.101
reports "and one of one's own" 0 "pooled: 4 passes" mine.txt --evidence ev --passes 1 --seconds 0.001
made lacks 04 0
printf '%s\nsimd,forward/f32/4x64/normal,fail,,,,,0,not measured: no OpenBLAS,\n' $header,log_aa > ev/lacks/races.csv
exits "and one where something was missing" 0 mine.txt --evidence ev --out lacks.csv
check "  which counts nowhere" "$(grep -q ',4$' lacks.csv || shows tail -1 lacks.csv)"
rm -r ev/lacks
made later 05 -0.5 000000000000
sed -i 's/2026/2099/' ev/later/machine.txt
reports "the latest kernels are others" 0 "the passes ran on other kernels" mine.txt --evidence ev
rm -r ev/later ev/2*
reports "too few for the stability" 1 "needs 6 passes" mine.txt --evidence ev --stability
for i in 4 5 6 7; do made p$i 0$i -0.10$i; done
exits "the stability" 0 mine.txt --evidence ev --stability
prints "simd,forward/f32/4x64/normal,"
says "answers differ in 0 of "
sed -i 's/,ok,/,fail,/' ev/p1/races.csv
exits "a pass in which a kernel was wrong" 1 mine.txt --evidence ev
prints "(in the pass of 2026-01-01T"
echo old >kept.csv
reports "no passes" 1 "there is no whole pass in nowhere" mine.txt --evidence nowhere --out kept.csv
check "  keep the earlier results" "$([ "$(cat kept.csv)" = old ] || shows cat kept.csv)"
reports "only quick ones" 1 "left out: 8 passes, on other kernels or with another --quick" mine.txt --evidence ev --quick
odd='a [b] *?{x}\'
reports "odd names" 0 "pooled: 1 pass " --seconds 0.001 --passes 1 --evidence "$odd" -- -x.txt
for i in {1..70}; do cp mine.txt many$i.txt; done
sed -i 's/4x64/8x64/' many70.txt
exits "more claims than fit a line" 0 many*.txt --seconds 0.001 --passes 1 --evidence many
check "  all are in the pass" "$(grep -q 8x64 many/*/races.csv || shows cat many/*/races.csv)"
rm many*.txt
for i in {1..3}; do made p$i 0$i -0.10$i; done
rm stderr
interrupts "an interrupt" stderr claims mine.txt --evidence ev --passes 2 --seconds 0.2
check "  leaves the answer of the passes before" "$(grep -q ',HOLDS,' stdout || shows cat stdout)"
check "  keeps the pass that its process ended" "$(ls -A ev | grep -c ^20 | grep -vx 1)"

exits "an unknown claim" 2 seven_to_fiveteen
quiet
says "no claim is called 'seven_to_fiveteen': did you mean seven_to_fifteen?"
exits "a claim with hyphens" 2 seven-to-fifteen
says "did you mean seven_to_fifteen?"
exits "a claim unlike any other" 2 beauty
says "no claim is called 'beauty': there is no experiments/claims/beauty.txt"
refuses "a file that is not there" "nowhere.txt: cannot read it: No such file" nowhere.txt
printf 'claim: x\nbeauty: 7\n' > bad.txt
exits "a bad file" 2 bad.txt
quiet
says "bad.txt:2: 'beauty: 7' should be"
sed "s/^claim: .*/claim: $(printf %01000d)/" mine.txt > bad.txt
refuses "a long name" "characters long" bad.txt
sed 's/f32/f33/' mine.txt > bad.txt
reports "a case that is none" 1 "'f33' should be f32, f16 or bf16" bad.txt
refuses "no time" "--seconds '0' should be" parameters --seconds 0
reports "a folder that is not there" 0 "made the folder results" parameters --out results/x.csv
check "  has both files" "$(ls results/x.csv results/x.machine.txt 2>&1 > /dev/null)"
refuses "a folder in a file" "cannot write results/x.csv/x.csv: Not a directory" parameters --out results/x.csv/x.csv
full_disk 1 claims parameters
cd / || exit 2
"$normlab" claims > "$work/stdout" 2> "$work/stderr"; code=$?
cd "$work" || exit 2
check "outside of the project" "$([ $code -eq 2 ] || echo "exit code $code")"
says "experiments/claims/*.txt"

for file in "$root"/experiments/claims/*.txt; do
    name=$(basename "$file" .txt)
    check "docs/claims.md has $name" "$(grep -qF "experiments/claims/$name.txt" "$root/docs/claims.md" || echo "run scripts/claims.py")"
done

summary
