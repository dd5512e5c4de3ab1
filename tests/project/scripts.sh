#!/usr/bin/env bash
# ./check and ./reproduce refuse a folder that they cannot write to or that another run uses, and an environment that
# pip cannot make. Scripts that write results into pages refuse damaged results. Usage: tests/project/scripts.sh
# path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
type flock setpriv git > /dev/null || exit 77

cp -r "$root"/check "$root"/reproduce "$root"/scripts "$root"/experiments .
mkdir build
refuses() { # NAME WORDS COMMAND...
    ran "$1" 2 "${@:3}" 9>&-
    says "$2"
}
exec 9> build/lock
flock 9
refuses "check beside another" "Another ./check or ./reproduce runs in" ./check
refuses "reproduce beside another" "Another ./check or ./reproduce runs in" ./reproduce --quick
exec 9>&-

refuses "check, an unknown option" "There is no option '--fast'; see ./check --help" ./check --fast
refuses "reproduce, an unknown option" "There is no option '--fast'; see ./reproduce --help" ./reproduce --fast
chmod 755 . && touch stdout stderr && chmod a-w build .
as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
refuses "check, read-only" "cannot be written to" "${as_user[@]}" ./check
refuses "reproduce, read-only" "cannot be written to" "${as_user[@]}" ./reproduce --quick
chmod u+w . build

# Tests the environment of --peers.
./reproduce --peers --help >stdout 2>stderr
check "reproduce --peers --help" "$(grep -q '^  --peers' stdout || shows cat stdout stderr)"
check "  installs nothing" "$([ ! -e .venv-peers ] || echo .venv-peers)"
bad_environment() (
    source scripts/setup.sh
    find_python && echo ./no_such_package >bad.txt && make_venv bad bad.txt
)
refuses "a package that cannot be installed" "pip could not install the Python packages of bad.txt" bad_environment
check "  is tried again" "$([ ! -e bad/stamp ] || echo bad/stamp)"

# With damaged results a script fails, prints one line, and changes no page.
mkdir pages given && cp -r "$root"/{README.md,CITATION.cff,docs,labs,plots,scripts,experiments,optimized,*norm} pages && mkdir -p pages/harness/{cases,timing} pages/include
cp "$root"/include/normlab.h pages/include
cp "$root"/harness/timing/modes.c pages/harness/timing
cp "$root"/harness/cases/museum.c pages/harness/cases
cp -r pages as_it_was
head -c 300 "$root"/docs/machines/zen5.csv >cut.csv
{ head -1 "$root"/docs/machines/zen5.csv && printf '\xff\xfe,a,b,c,d,e,f\n'; } >other.csv
printf 'name,value\n"never closed,1\n' >open.csv
: >empty.csv
mkdir folder.csv
bad_results() { # SCRIPT NAME OPTION...: with a damaged NAME.csv
    local file
    for file in cut other open empty folder; do
        rm -rf given/"$2".csv && cp -r $file.csv given/"$2".csv && echo "cpu: x" >given/"$2".machine.txt
        python3 pages/scripts/"$1".py "${@:3}" given/"$2".csv >stdout 2>stderr
        check "$1.py, $file.csv" "$([ $? -eq 1 ] && [ "$(wc -l <stderr)" -eq 1 ] || echo "it says: $(tail -2 stderr)")"
    done
}
bad_results peers peers
bad_results museum museum --program "$normlab"
bad_results readme ladder --program "$normlab"
bad_results machines regret --add zen0
bad_results ports ports --add zen3
of_machine() { # WORDS FACT: machines.py --add refuses results with this fact
    echo 'case,impl,isa,ns,limit_gbps,limit_pct,flag,comparison,verdict
layernorm/forward/f32/4x64/normal,optimized/rows_simd,avx2,9,9,9,,baseline,ok' >given/choice.csv
    { echo "$2" && grep -v "^${2%%:*}: " "$root"/docs/machines/zen5.machine.txt; } >given/choice.machine.txt
    python3 pages/scripts/machines.py --add zen4 given/choice.csv >stdout 2>stderr
    check "machines.py: $1" "$([ $? -eq 1 ] && grep -qF -- "$1" stderr || shows cat stderr)"
}
of_machine "the sources had uncommitted changes" "commit: 0000000-dirty"
of_machine "is from family 26, model 2; zen4 is family 25, model 17" "date: 2026-11-30T00:00:00Z"
cp cut.csv given/frameworks.csv
python3 pages/scripts/frameworks.py given >stdout 2>stderr
check "frameworks.py, cut.csv" "$([ $? -eq 1 ] && [ "$(wc -l <stderr)" -eq 1 ] || echo "it says: $(tail -2 stderr)")"
check "  no page has changed" "$(diff -rq as_it_was pages | grep -v __pycache__)"
gpu() { python3 pages/scripts/frameworks.py "$root"/docs/machines/h100 --check >stdout 2>stderr; }
check "frameworks.py --check" "$(gpu || shows cat stderr)"
sed -i 's/^| forward, f32, 2048x1024 | \*\*[0-9]/&0/' pages/docs/gpu.md
check "  of another number" "$(gpu && echo "it passes" || grep -v '^docs/gpu.md is not what its files say' stderr)"
cp as_it_was/docs/gpu.md pages/docs

# claims.py --check: every number on its pages follows from the stored passes.
agree() { python3 pages/scripts/claims.py --check --program "$normlab" >stdout 2>stderr; }
agree
check "claims.py --check" "$(cat stderr)"
disagrees() { # WORDS FILE SED...
    sed -i "${@:3}" pages/"$2"
    agree
    check "claims.py --check: $1" "$([ $? -eq 1 ] && grep -qF -- "$1" stderr && ! grep -q Traceback stderr || shows cat stderr)"
    cp as_it_was/"$2" pages/"$2"
}
# Several faults at once: each must be named.
words=() planted=()
plants() { # WORDS FILE SED...
    sed -i "${@:3}" pages/"$2"
    words+=("$1") planted+=("$2")
}
names_all() {
    local word file
    agree
    for word in "${words[@]}"; do
        check "claims.py --check: $word" "$(grep -qF -- "$word" stderr && ! grep -q Traceback stderr || shows cat stderr)"
    done
    for file in "${planted[@]}"; do cp as_it_was/"$file" pages/"$file"; done
    words=() planted=()
}
disagrees "docs/claims.md is not what docs/machines/ says" docs/claims.md '/^| \[four_thirds\]/s/[0-9]/7/3'
# A machine without a verdict contradicts no other machine.
check "modes.py: what rows say together" "$(python3 -c 'import sys; sys.path.insert(0, "pages/plots"); import modes
row = lambda low, value, high: {"low": low, "value": value, "high": high}
for rows, said in (([row(5, 9, 11), row(3, 4, 6)], "4 to 9 % less"), ([row(5, 9, 11), row(-2, 4, 7)], "9 % less (1 of 2 not resolved)"),
                   ([row(-2, 4, 7)], "not resolved (7 % less to 2 % longer)"), ([row(-1, 1, 2)], "the same"), ([row("", 4, "")], "not resolved")):
    if modes.against(rows) != said: print(modes.against(rows), "for", said)' 2>&1)"
check "files.py: which timings other programs disturbed" "$(python3 -c 'import sys; sys.path.insert(0, "pages/plots"); import files
for bands, busy in (("0.5 0.01 0.01", True), ("0.5 0.01 0.01 0.01", False), ("0.2 0.2", False), ("inf nan", True), ("", False)):
    if files.is_busy([{"aa_band": band} for band in [*bands.split(" "), ""]]) != busy: print(bands)' 2>&1)"
check "claims.py: one answer of several" "$(python3 -c 'import sys; sys.path.insert(0, "pages/scripts"); import claims
for given, want in ((["DEPENDS", "NOT RESOLVED"], "DEPENDS"), (["NOT RUN", "HOLDS"], "HOLDS"), (["HOLDS", "FAILS"], "DEPENDS on the machine"),
                    (["HOLDS", "DEPENDS"], "DEPENDS"), (["NOT RESOLVED", "NOT RUN"], "NOT RESOLVED"), ([], "not measured yet")):
    if claims.everybodys(given) != want: print(given, claims.everybodys(given))' 2>&1)"
disagrees "16-the-claims.md is not what" docs/course/16-the-claims.md '/^| unfused: single/s/ less/ longer/'
plants "16-the-claims.md does not say 'So RMSNorm saves nearly half" docs/course/16-the-claims.md 's/saves nearly half/saves half/'
plants "does not hold on zen3" docs/relations.csv '3s/40,50/10,20/'
pass=docs/machines/zen3/claims.csv
of_race="zen3/claims.csv: seven_to_fifteen, simd forward/f32/64x1024/normal:"
# name,setting,how,case,quantity,unit,predicate_low,predicate_high,share, then value,low,high,rounds,passes,...
row=$(awk -F, '/^seven_to_fifteen,/ && $3 == "simd" && $4 == "forward/f32/64x1024/normal" { print NR; exit }' "$root/$pass")
field() { echo "${row}s/^\\(\\([^,]*,\\)\\{$1\\}\\)[^,]*,/\\1$2,/"; }
plants "$of_race value is '60'" $pass "$(field 9 60)"
plants "$of_race low is '-60'" $pass "$(field 10 -60)"
plants "$of_race passes is '99'" $pass "$(field 13 99)"
plants "seven_to_fifteen" $pass '/^seven_to_fifteen,0,/s/DEPENDS/HOLDS/'
plants "halved_traffic, " $pass '/^halved_traffic,0,/s/,0.816523,/,50,/'
plants "headline.png says" docs/pictures/slides/headline.png 's/27 to 34 %/28 to 34 %/'
of_pass=docs/machines/zen3/claims/$(ls "$root"/docs/machines/zen3/claims | head -1)/machine.txt
plants "of uncommitted sources" "$of_pass" '/^commit/s/$/-dirty/'
names_all
disagrees "rows of claims about" $pass "${row}d"
copied() { # copied WORDS FILE...: with a machine zen9 that has copies of zen3's files
    mkdir -p pages/docs/machines/zen9 && (cd pages/docs/machines/zen3 && cp -r "${@:2}" ../zen9)
    agree
    check "claims.py --check: $1" "$([ $? -eq 1 ] && grep -qF -- "$1" stderr && ! grep -q Traceback stderr || shows cat stderr)"
    rm -r pages/docs/machines/zen9
}
copied "races.csv is a copy of docs/machines/zen3/" claims claims.csv machine.txt
copied "zen9 has passes but no claims.csv" claims
copied "zen9 has no passes" claims.csv machine.txt
disagrees "zen3/claims.csv lacks value" $pass '1s/,value,/,worth,/'
disagrees "zen3/machine.txt lacks cpu" docs/machines/zen3/machine.txt '/^cpu: /d'
disagrees "machine.txt lacks crc" "$of_pass" '/^crc: /d'
race=$(cd pages && ls docs/machines/zen5/claims/*/races.csv | head -1)
cp -r pages/docs/machines/zen5/claims evidence
truncate -s -2 evidence/"$(cut -d/ -f5- <<<$race)"
python3 pages/scripts/claims.py --add zen5 evidence --program "$normlab" >stdout 2>stderr
check "claims.py --add: a damaged pass" "$([ $? -eq 1 ] && grep -q 'evidence.*the last line is cut off' stderr || shows cat stderr)"
python3 pages/scripts/claims.py --add .. evidence --program "$normlab" >stdout 2>stderr
check "claims.py --add: a name that is none" "$([ $? -eq 2 ] && grep -q "'..' is no folder's name" stderr || shows cat stderr)"
check "  changes nothing" "$(diff -rq as_it_was/docs pages/docs)"
echo "crc: 00000000" >>pages/"${race/races.csv/machine.txt}"
disagrees "$race has changed since it was measured" $race ''
cp as_it_was/"${race/races.csv/machine.txt}" pages/"${race/races.csv/machine.txt}"
plants "docs/glossary.md: '12.5 ms' is typed" docs/glossary.md '$s/$/ That took 12.5 ms./'
plants "docs/glossary.md: '13.5 ms' is typed" docs/glossary.md '$s/$/\n\nThat took 13.5\nms./'
plants "labs/README.md: '12.5 percent' is typed" labs/README.md '$s/$/ That took 12.5 percent./'
plants "docs/glossary.md: '96 %' is typed" docs/glossary.md '$s/$/ <!-- mine:begin --> saves 96 % <!-- mine:end -->/'
plants "docs/relations.csv: 'RMSNorm' needs" docs/relations.csv '$s/$/\ndocs\/gpu.md,RMSNorm,simd,forward\/f32\/64x1024\/normal,-inf,inf/'
plants "docs/numbers.csv: docs/gpu.md needs numbers and a reason" docs/numbers.csv '$s/$/\ndocs\/gpu.md,7 to 64 %,/'
plants "plots/README.md: '1.25 times' is typed" plots/README.md '1s/$/: 1.25 times as fast/'
plants "docs/numbers.csv: docs/tuning.md has no '1 %'" docs/tuning.md 's/ 1 %/ a hundredth/'
plants "docs/numbers.csv: there is no page docs/gone.md" docs/numbers.csv '$s/$/\ndocs\/gone.md,5 %,none/'
names_all

# readme.py --check finds a planted fault, and finds none before it is planted.
finds() { # WORDS FILE SED...: after sed has changed the file
    python3 pages/scripts/readme.py --check --program "$normlab" 2>before
    sed -i "${@:3}" pages/"$2"
    python3 pages/scripts/readme.py --check --program "$normlab" 2>stderr
    check "readme.py --check: $1" "$([ $? -eq 1 ] && grep -qF -- "$1" stderr && ! grep -qF -- "$1" before || shows cat before stderr)"
    cp as_it_was/"$2" pages/"$2"
}
finds "docs/ladder.md lacks layernorm/naive" docs/ladder.md '/layernorm\/naive.c/d'
finds "docs/ladder.md has layernorm/gone, which is gone" docs/ladder.md 's/layernorm\/naive.c/layernorm\/gone.c/'
finds "ladder.md: an empty cell" docs/ladder.md '0,/layernorm\/naive.c/s/ | [0-9][^|]* |$/ | |/'
finds "README.md: an empty cell" README.md 's/^\(| .*naive.c.*\) [^ ]* |$/\1 |  |/'
finds "more than two screens" README.md '1,30p'
finds "README.md is not what docs/ladder.csv says" README.md '/naive.c/s/[0-9]* µs/&s/'
finds "README.md is not what docs/ladder.csv says" README.md 's/^Measured on [^,]*,/Measured on a 486,/'
finds "docs/ladder.md is not what docs/ladder.csv says" docs/ladder.csv '2s/,ok,[0-9.]*,[0-9.]*,/,ok,3,5,/'
finds "docs/gpu.md: 'utf-8' codec" docs/gpu.md '3s/^/\xff/'
finds "CITATION.cff has version 9.9.9" CITATION.cff 's/^version:.*/version: 9.9.9/'
finds "rmsnorm/naive.c has a TODO" rmsnorm/naive.c 's/idea   /&TODO /'
finds "docs/ladder.md links to gone.md" docs/ladder.md 's/](glossary.md#rung)/](gone.md)/'

# stopwatch.py times a clone and keeps the rows that it does not measure. If a command fails, the page does not change.
mkdir watched && cp -r "$root"/{scripts,plots} watched && cd watched && git init -q . || exit 1
printf '#!/bin/sh\n[ -f CONTRIBUTING.md ] && [ ! -f untracked ]\n' >check && chmod +x check && touch untracked
printf '%s\n' '# Times' '<!-- stopwatch:begin -->' '| `./check --all` | 9:59 min | 99 s | elsewhere |' '<!-- stopwatch:end -->' >CONTRIBUTING.md
commit() { git add check CONTRIBUTING.md && git -c user.name=a -c user.email=a@b commit -qm "$1"; }
commit first && python3 scripts/stopwatch.py --times 2 check >../stdout 2>../stderr
check "stopwatch.py" "$([ $? -eq 0 ] && grep -q '^| `./check` | 0 s | 0 s | .*, of 2 |$' CONTRIBUTING.md || shows cat ../stderr CONTRIBUTING.md)"
check "  other rows stay" "$(grep -q '^| `./check --all` | 9:59 min | 99 s | elsewhere |$' CONTRIBUTING.md || shows cat CONTRIBUTING.md)"
echo 'echo broken; exit 3' >check && cp CONTRIBUTING.md ../before && commit second && python3 scripts/stopwatch.py --times 1 check 2>../stderr
check "  a command that fails" "$([ $? -eq 1 ] && grep -q '^exit code 3: ./check' ../stderr && cmp CONTRIBUTING.md ../before || shows cat ../stderr)"
cd ..

# Evidence is pooled by a hash of the kernels' code, which comments and layout do not change.
if type cmake >/dev/null 2>&1; then
    mkdir -p hashed/core
    hashed() { # hashed TEXT: the hash of kernels that are this text
        printf '%b' "$1" >hashed/core/rung.c
        cmake -D SOURCE="$PWD/hashed" -D HEADER="$PWD/info.h" -D COMPILER=cc -D FLAGS=-O2 -P "$root/cmake/build_info.cmake"
        sed -n 's/^#define NL_BUILD_KERNELS //p' info.h
    }
    code=$(hashed 'a = b * c; /* the * of 1/2 **/\nd = a / b; // why\n')
    check "comments and layout keep the hash" "$([ ${#code} -eq 14 ] && [ "$code" = "$(hashed '// new\n\n    a = b * c;\nd = a / b; /**/ \n')" ] || echo "$code")"
    check "  code changes it" "$([ "$code" != "$(hashed 'a = b * c; /* the * of 1/2 **/\nd = a * b; // why\n')" ] || echo "$code")"
    check "  code between comments, too" "$([ "$(hashed '/* a */ x /* b */\n')" != "$(hashed '/* a */ y /* b */\n')" ] || echo same)"
fi
summary
