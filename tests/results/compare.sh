#!/usr/bin/env bash
# Tests `normlab compare` with result files made by hand and verdicts worked out by hand.
# Usage: tests/results/compare.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
under_test=compare

silent() { check "$1" "$(grep -F -- "$2" stderr)"; }

header=case,impl,isa,threads,n,c,s,data,verdict,ns,ns_low,ns_high,limit_pct,bytes,aa_band,flag
machine() { # machine FILE CPU [LINE...]
    printf '%s\n' "cpu: $2" "caches: L1 32K" "kernel: Linux 6.1 x86_64" "date: $1" "${@:3}" \
        > "$1.machine.txt"
}
file() { # file NAME ROW...: NAME.csv, measured on the machine "one"
    printf '%s\n' "$header" "${@:2}" > "$1.csv"
    machine "$1" one
}
# row IMPL NS LOW HIGH [BAND [LIMIT_PCT]]; sed changes other columns.
row() { echo "x/y,$1,c,1,4,8,1,normal,ok,$2,$3,$4,${6:-},256,${5-0.01},"; }

# gives IMPL VERDICT,WHY,MEASURE,A,B,RATIO,LOW,HIGH,BAND,MARGIN: checks the --csv in stdout.
gives() {
    local line
    line=$(grep -F ",$1,c,1," stdout | sed "s|.*,$1,c,1,||")
    check "  $1: $2" "$([ "$line" = "$2" ] || echo "is $line")"
}

# The interval of B/A goes from low B / high A to high B / low A. A band of 1 % ends at 0.990 and 1.010, a margin of 2 %
# at 0.980 and 1.020.
file a "$(row faster 100 99 101)" "$(row slower 80 79 81)" "$(row same 100 99.8 100.2 0.005)" \
    "$(row open 100 90 110)" "$(row far 100 98 102)" "$(row band 100 99 101 0.22)" \
    "$(row wider 100 99 101 0.01)" "$(row noisy 100 99.8 100.2 0.03)" "$(row equal 10 10 10 0)"
file b "$(row faster 80 79 81)" "$(row slower 100 99 101)" "$(row same 100.5 100.3 100.7 0.005)" \
    "$(row open 95 85 105)" "$(row far 97 95 99)" "$(row band 80 79 81 0.01)" \
    "$(row wider 80 79 81 0.23)" "$(row noisy 100.5 100.3 100.7 0.005)" "$(row equal 10 10 10 0)"
exits "two files" 0 a.csv b.csv --csv
check "  a heading and nine rows" "$([ "$(wc -l < stdout)" -eq 10 ] || shows cat stdout)"
gives faster FASTER,,ns,100,80,0.8,0.782178,0.818182,0.01,0.02
gives slower SLOWER,,ns,80,100,1.25,1.22222,1.27848,0.01,0.02
gives same SAME,,ns,100,100.5,1.005,1.001,1.00902,0.005,0.02
gives open "NOT RESOLVED,,ns,100,95,0.95,0.772727,1.16667,0.01,0.02"
gives far "NOT RESOLVED,,ns,100,97,0.97,0.931373,1.0102,0.01,0.02" # the far ends, not the near
gives band FASTER,,ns,100,80,0.8,0.782178,0.818182,0.22,0.02       # 1 / 1.22 = 0.8197
gives wider "NOT RESOLVED,,ns,100,80,0.8,0.782178,0.818182,0.23,0.02" # 1 / 1.23 = 0.8130
gives noisy "NOT RESOLVED,,ns,100,100.5,1.005,1.001,1.00902,0.03,0.02"
gives equal SAME,,ns,10,10,1,1,1,0,0.02
says "9 compared: 2 FASTER, 1 SLOWER, 2 SAME, 4 NOT RESOLVED; 0 refused"
silent "  no warning" "warning"
says "A and B did not take turns"
exits "the other way round" 0 b.csv a.csv --csv
gives faster SLOWER,,ns,80,100,1.25,1.22222,1.27848,0.01,0.02
gives slower FASTER,,ns,100,80,0.8,0.782178,0.818182,0.01,0.02
exits "--margin 0.3" 0 a.csv b.csv --csv --margin 0.3
gives faster SAME,,ns,100,80,0.8,0.782178,0.818182,0.01,0.3 # 1 / 1.3 = 0.769
gives open SAME,,ns,100,95,0.95,0.772727,1.16667,0.01,0.3
exits "--margin 0.001" 0 --margin=0.001 a.csv b.csv --csv
gives same "NOT RESOLVED,,ns,100,100.5,1.005,1.001,1.00902,0.005,0.001"
exits "--fail-if-slower" 1 a.csv b.csv --fail-if-slower
file fast "$(row faster 80 79 81)"
exits "--fail-if-slower, and none is" 0 a.csv fast.csv --fail-if-slower

# Without a band the margin is the limit: a ratio of 1.015 is inside the margin, 1.022 is not.
file nob1 "$(row in 100 100 100 '')" "$(row out 100 100 100 '')" "$(row one 100 100 100 0.5)"
file nob2 "$(row in 102 101.5 103 '')" "$(row out 103 102.2 104 '')" "$(row one 120 120 120 '')"
exits "no band" 0 nob1.csv nob2.csv --csv
gives in "NOT RESOLVED,,ns,100,102,1.02,1.015,1.03,0.02,0.02"
gives out SLOWER,,ns,100,103,1.03,1.022,1.04,0.02,0.02
gives one "NOT RESOLVED,,ns,100,120,1.2,1.2,1.2,0.5,0.02"
says "3 rows lack an A/A band"

# Rows that cannot be compared are shown with the reason, and counted.
file bad1 "$(row gone 1 1 1)" "$(row fails 1 1 1 | sed s/,ok,/,fail,/)" \
    "$(row skips '' '' '' | sed s/,ok,/,skip,/)" "$(row untimed '' '' '')" "$(row few 1 '' '')" \
    "$(row magic 1 1 1)" "$(row bytes 1 1 1)" "$(row data 1 1 1)" "$(row shape 1 1 1)" \
    "$(row demo 1 1 1 | sed s/,ok,/,demo,/)" "$(row threads 1 1 1)" "$(row isa 1 1 1)"
file bad2 "$(row fails 1 1 1)" "$(row skips 1 1 1)" "$(row untimed 1 1 1)" "$(row few 1 1 1)" \
    "$(row magic 1 1 1)IMPOSSIBLE" "$(row bytes 1 1 1 | sed s/,256,/,512,/)" \
    "$(row data 1 1 1 | sed s/,normal,/,uniform,/)" "$(row shape 1 1 1 | sed s/,4,8,/,8,4,/)" \
    "$(row demo 1 1 1)" "$(row 'new,one' 1 1 1 | sed 's/new,one/"new,one"/')" \
    "$(row threads 1 1 1 | sed s/c,1,/c,2,/)" "$(row isa 1 1 1 | sed s/,c,/,avx2,/)"
exits "refused rows" 0 bad1.csv bad2.csv --csv
gives gone "REFUSED,only in A,ns,1,,,,,,0.02"
gives fails "REFUSED,the verdict of A is fail,ns,1,1,,,,,0.02"
gives skips "REFUSED,the verdict of A is skip,ns,,1,,,,,0.02"
gives untimed "REFUSED,A was not timed,ns,,1,,,,,0.02"
gives few "REFUSED,A has no interval: too few rounds,ns,1,1,,,,,0.02"
gives magic "REFUSED,B is flagged IMPOSSIBLE,ns,1,1,,,,,0.02"
gives bytes 'REFUSED,"bytes differs: 256 in A, 512 in B",ns,1,1,,,,,0.02'
gives data 'REFUSED,"data differs: normal in A, uniform in B",ns,1,1,,,,,0.02'
gives shape 'REFUSED,"n differs: 4 in A, 8 in B",ns,1,1,,,,,0.02'
gives demo SAME,,ns,1,1,1,1,1,0.01,0.02
gives '"new,one"' "REFUSED,only in B,ns,,1,,,,,0.02"
gives threads "REFUSED,only in A,ns,1,,,,,,0.02"
gives isa "REFUSED,only in A,ns,1,,,,,,0.02"
says "1 compared: 0 FASTER, 0 SLOWER, 1 SAME, 0 NOT RESOLVED; 14 refused"
exits "the other way round" 0 bad2.csv bad1.csv --csv
gives fails "REFUSED,the verdict of B is fail,ns,1,1,,,,,0.02"
gives magic "REFUSED,A is flagged IMPOSSIBLE,ns,1,1,,,,,0.02"
gives gone "REFUSED,only in B,ns,,1,,,,,0.02"
gives bytes 'REFUSED,"bytes differs: 512 in A, 256 in B",ns,1,1,,,,,0.02'
file none
reports "nothing in common" 1 "FAIL nothing could be compared" fast.csv bad1.csv
exits "no rows at all" 1 none.csv none.csv

# For two folders of three passes, the interval is the mean of logarithms +- 4.605 sqrt(s2 (1/3 + 1/3)).
keep() { # keep FOLDER: moves bench.csv into FOLDER, a pass, as one more process of the pass
    local number=$(($(ls "$1"/*.csv 2>/dev/null | wc -l) + 1))
    mv bench.csv "$1/bench-$number.csv" && mv bench.machine.txt "$1/bench-$number.machine.txt"
}
pass() { # pass FOLDER NS [CPU]: adds a pass
    local folder=$1/$(ls "$1" 2>/dev/null | wc -l)
    mkdir -p "$folder" && file bench "$(row one "$2" 1 1000)" "$(row two 10 1 1000)" && machine bench "${3:-one}"
    keep "$folder"
}
for ns in 100 101 102; do pass p "$ns"; done
for ns in 106 107 105; do pass q "$ns"; done
exits "folders of passes" 0 p q --csv
gives one SLOWER,,ns,101,106,1.04951,1.01203,1.08837,0,0.02
gives two SAME,,ns,10,10,1,1,1,0,0.02
says "A: 3 passes; medians over rows:"
exits "the same passes" 0 p p --csv --margin 0.05
gives one SAME,,ns,101,101,1,0.963456,1.03793,0,0.05
# Tests a baseline in the same rounds. In the second run the baseline takes twice the time, and the candidate 2 % more
# than twice.
relative() { # relative FOLDER NS BASELINE_NS [PASS]: with PASS, one more process of a pass
    local folder=$1/${4:-$(ls "$1" 2>/dev/null | wc -l)} ratio
    ratio=$(python3 -c "print($3 / $2)")
    mkdir -p "$folder" && machine bench one
    printf '%s\n' "$header,baseline,speedup,quiet_ns,quiet_speedup,comparison" \
        "$(row one "$2" 1 9000),naive,$ratio,$3,$ratio,FASTER" \
        "$(row base "$3" 1 9000),naive,1,$3,1,baseline" > bench.csv
    keep "$folder"
}
for k in 1 2 3; do relative r $((k * 100)) $((k * 200)) && relative s $((k * 51)) $((k * 100)); done
exits "passes with a baseline" 0 r s --csv
gives one "SLOWER,,ns over baseline,200,102,1.02,1.02,1.02,0,0.02"
# One process of each pass was disturbed: the baseline took longer, and the ratio differs.
for k in 1 2 3; do relative r $((300 * k)) $((400 * k)) $((k - 1)) && relative s $((80 * k)) $((110 * k)) $((k - 1)); done
exits "passes of several processes, some disturbed" 0 r s --csv
check "  these do not count" "$(grep -q 'SLOWER,,ns over baseline,[0-9.]*,[0-9.]*,1.02,1.02,1.02,0,0.02' stdout || shows cat stdout)"
relative r 100.5 198 0 && relative r 201 396 1 && relative r 301.5 594 2
exits "  and the quiet ones have a mean" 0 r s --csv
check "  of logarithms" "$(grep -q 'SAME,,ns over baseline,[0-9.]*,[0-9.]*,1.01236,1.01236,1.01236,0,0.02' stdout || shows cat stdout)"
says "A: 3 passes; medians over rows: 2 processes used per pass;"
# A third of a pass's processes may be flagged, but not most of them.
flag() { awk -F, -v OFS=, '$2 == "one" { $16 = "IMPOSSIBLE" } 1' "$1" >flagged && mv flagged "$1"; }
flag r/0/bench-1.csv
exits "  a flag of one process" 0 r s --csv
check "  does not count" "$(grep -q ',one,.*SAME,' stdout || shows cat stdout)"
flag r/0/bench-2.csv
exits "  flags of two" 0 r s --csv
check "  do" "$(grep -q ',one,.*REFUSED,A is flagged IMPOSSIBLE' stdout || shows cat stdout)"
check "  its own row is of times" "$(grep -q ',base,.*NOT RESOLVED,,ns,' stdout || shows cat stdout)"
says "B/A compares times relative to the baseline's"
# Each case's noise hides 3 %, but in the mean over both cases it cancels.
two() { # two FOLDER NS_OF_ONE_CASE NS_OF_ANOTHER
    local folder=$1/$(ls "$1" 2>/dev/null | wc -l)
    mkdir -p "$folder" && file bench "$(row k "$2" 1 1000)" "$(row k "$3" 1 1000 | sed 's,x/y,x/z,')"
    keep "$folder"
}
two t 100 100 && two t 80 125 && two t 125 80 && two v 103 103 && two v 82.4 128.75 && two v 128.75 82.4
exits "a change in all cases" 0 t v --csv
check "  shows in no case" "$([ "$(grep -c '^v,x/[yz],k,c,1,NOT RESOLVED,' stdout)" = 2 ] || shows cat stdout)"
check "  but in their mean" "$(grep -qx 'v,all 2 cases,k,c,1,SLOWER,,ns,,,1.03,1.03,1.03,0,0.02' stdout || shows cat stdout)"
says "2 compared: 0 FASTER, 0 SLOWER"
exits "the exit code knows the mean" 1 t v --fail-if-slower
prints "all 2 cases"
says "; 1 SLOWER in the mean over their cases"
# Only one case has a baseline.
for k in t/0 t/1 t/2 v/0 v/1 v/2; do
    awk -F, -v OFS=, 'NR == 1 { print $0, "baseline,speedup,quiet_speedup,quiet_ns,comparison"; next }
        { print $0, "k", /x.z/ ? "1.5,1.5,100,FASTER" : "1,1,100,baseline" }' $k/bench-1.csv > new.csv && mv new.csv $k/bench-1.csv
done
exits "a baseline in one case only" 0 t v --csv
check "  the mean is of times" "$(grep -qx 'v,all 2 cases,k,c,1,SLOWER,,ns,,,1.03,1.03,1.03,0,0.02' stdout || shows cat stdout)"
sed -i 's/1.5,1.5,/1.5,,/' t/0/bench-1.csv
exits "a pass without its speedup" 0 t v --csv
check "  is refused" "$(grep -q '^v,x/z,k,c,1,REFUSED,a pass lacks its speedup,' stdout || shows cat stdout)"
sed -i 's/1.5,,100,/1.5,1.5,,/' t/0/bench-1.csv
exits "a pass without its quiet time" 0 t v --csv
check "  is refused" "$(grep -q '^v,x/z,k,c,1,REFUSED,a pass lacks its speedup,' stdout || shows cat stdout)"
mkdir -p before/0 && cp p/0/bench-1.csv before/0/bench.csv
refuses "passes of an older version" "before has no PASS/bench-1.csv, or only passes of an older version" before p
# Two untimed files with the same date do not count as copies of one file.
failed() { file bench "$(row one '' '' '' | sed 's/,ok,/,fail,/')" && keep "$1"; }
mkdir -p u/0 && failed u/0 && failed u/0
exits "passes without times" 1 u u
silent "  are no copies" "left out"
mkdir -p w/0 && file bench "$(row one '' '' '' | sed 's/,ok,/,demo,/')" && keep w/0 && failed w/0
exits "a process that fails after one that is a demo" 1 w w --csv
check "  decides the verdict" "$(grep -q 'REFUSED,the verdict of A is fail' stdout || shows cat stdout)"
mkdir -p many/0 && for i in {1..1001}; do cp p/0/bench-1.csv many/0/bench-"$i".csv; done
refuses "too many files in a pass" "many: more than 1000 passes, or files in a pass" many p
cp -r p/2 p/3
reports "a pass and its copy" 0 "warning: 1 of 4 processes are left out: their files are cut off, changed or copies; the last: p/3/bench-1.csv" p q
says "A: 3 passes"
pass p 103 && truncate -s -2 p/4/bench-1.csv
reports "a pass that is cut off, too" 0 "warning: 2 of 5 processes are left out" p q
pass p 103 && echo "crc: 00000000" >> p/5/bench-1.machine.txt
reports "one that is not what its checksum says" 0 "warning: 3 of 6 processes are left out" p q
rm -r p/5
pass p 104 && sed -i '$d' p/5/bench-1.csv
sed -i 3d p/5/bench-1.csv
rm -r p/[34]
reports "one that lacks a row" 0 "warning: p: 1 rows are not in every pass" p q
rm -r p/5
refuses "passes and a file" "p is a folder of passes, and a.csv is no folder" p a.csv
pass q 105 another
refuses "passes of two machines" "cannot be pooled: cpu is 'one' and 'another'. Give each its own folder" p q
rm -r q/3
pass q 105 && echo "loaded: 12345678" >> q/3/bench-1.machine.txt
refuses "passes of two versions of a loaded file" "cannot be pooled: loaded is '' and '12345678'." p q

# Across machines rates are compared in per cent of the limit. 80 % against 40 % is a time ratio of a half, although the
# time is three times as long: (100 / 80 * 0.99..1.01) / (100 / 40 * 0.99..1.01).
file near "$(row i 100 99 101 0.01 40)" "$(row blind 100 99 101 0.01)"
file other "$(row i 300 297 303 0.01 80)" "$(row blind 300 297 303 0.01 80)"
exits "one machine" 0 near.csv other.csv --csv
gives i SLOWER,,ns,100,300,3,2.94059,3.06061,0.01,0.02
machine other two
exits "two machines" 0 near.csv other.csv --csv
gives i FASTER,,limit_pct,40,80,0.5,0.490099,0.510101,0.01,0.02
gives blind "REFUSED,A has no limit_pct,limit_pct,,80,,,,,0.02"
says "The machines differ in cpu: compares shares of each machine's own limit"
run compare near.csv other.csv
prints "The machines differ in cpu: compares shares of each machine's own limit"
prints "40 %"
machine other one
sed -i 's/L1 32K/L1 64K/; s/x86_64/aarch64/; s/Linux 6.1/Linux 7.0/' other.machine.txt
reports "other caches, another architecture" 0 "The machines differ in caches, architecture: " near.csv other.csv --csv
machine other one
sed -i 's/Linux 6.1/Linux 7.0/' other.machine.txt
exits "another kernel is the same machine" 0 near.csv other.csv --csv
gives i SLOWER,,ns,100,300,3,2.94059,3.06061,0.01,0.02
rm other.machine.txt
exits "an unknown machine" 0 near.csv other.csv --csv
gives i FASTER,,limit_pct,40,80,0.5,0.490099,0.510101,0.01,0.02
says "The machine of B is not known (no cpu in .machine.txt)"
for f in near other; do machine $f unknown; sed -i 's/L1 32K/unknown/' $f.machine.txt; done
reports "two machines without a name" 0 "It is not known whether this is one machine" near.csv other.csv --csv
for f in near other; do machine $f unknown; done
exits "caches alone tell" 0 near.csv other.csv --csv
gives i SLOWER,,ns,100,300,3,2.94059,3.06061,0.01,0.02

# Tests other facts in which machines differ.
machine a one "compiler: GNU 12" "commit: abc" "doctor: 1 bad" "doctor load: good 0.1" "smt: on"
machine b one "compiler: GNU 14" "commit: abc" "doctor: 2 bad" "doctor load: good 0.2" "os: Z"
run compare a.csv b.csv
says "warning: A and B were not measured alike:"
says "  compiler           A: GNU 12"
says "  compiler           B: GNU 14"
check "  each once" "$(sed 1d stderr | grep ' [AB]: ' | sort | uniq -d)"
says "  smt                A: on" # a fact of A only
says "  os                 B: Z"
silent "  the commits are" "commit"
silent "  dates may differ" "date"
silent "  two good findings are alike" "doctor"
sed -i 's/good 0.2/bad 9/' b.machine.txt
run compare a.csv b.csv
says "  doctor load        A: good 0.1"
says "  doctor load        B: bad 9"

# The output for people is an aligned table, without escapes in a pipe, with messages on stderr.
prints "x/y"
line=$(printf '  %-14s %-7s %7s %9s %9s %7s %-16s %8s  %s' faster c 1 '100 ns' '80.0 ns' 0.800 \
    '[0.782, 0.818]' '1.00 %' FASTER)
prints "$line"
check "  no escapes" "$(grep $'\033' stdout)"
check "  one heading per case" "$([ "$(grep -c '^x/y$' stdout)" -eq 1 ] || shows cat stdout)"
run compare bad1.csv bad2.csv
prints "REFUSED: B is flagged IMPOSSIBLE"
TERM=xterm NO_COLOR='' terminal compare a.csv b.csv
check "colour on a terminal" "$(grep -qF $'\033[31mSLOWER\033[0m' stdout || shows cat stdout)"
TERM=xterm NO_COLOR=1 terminal compare a.csv b.csv
check "  not with NO_COLOR" "$(grep -q SLOWER stdout || echo "no table"; grep $'\033' stdout)"

# For folders, compares the .csv files that both have, except *.rounds.csv.
mkdir old new
cp a.csv a.machine.txt old; cp b.csv new/a.csv
cp fast.csv old; cp fast.csv new; cp a.machine.txt old/fast.machine.txt
cp none.csv old/before.csv; cp none.csv new/zero.csv
cp b.machine.txt new/a.machine.txt; cp b.machine.txt new/fast.machine.txt
for f in old new; do echo damaged > $f/a.rounds.csv; echo damaged > $f/notes.txt; done
exits "two folders" 0 old new --csv
check "  a row names its file" "$(grep -q '^a.csv,x/y,slower,c,1,SLOWER,' stdout || shows cat stdout)"
check "  of both files" "$(grep -q '^fast.csv,x/y,faster,c,1,NOT RESOLVED,' stdout || shows cat stdout)"
check "  the machines are compared once" "$([ "$(grep -c warning: stderr)" -eq 1 ] || shows cat stderr)"
says "only in A: old/before.csv"
says "only in B: new/zero.csv"
says "10 compared: 2 FASTER, 1 SLOWER, 2 SAME, 5 NOT RESOLVED; 0 refused; 2 files in one"
exits "  --fail-if-slower" 1 old new --fail-if-slower
echo damaged > new/fast.csv
reports "a damaged file in a folder" 2 "new/fast.csv:1: no column case" old new --csv
check "  and the others compared" "$(grep -q '^a.csv,x/y,slower,c,1,SLOWER,' stdout || shows cat stdout)"
mkdir empty
reports "nothing in common" 1 "FAIL nothing could be compared" old empty

# Tests files that are cut off or damaged, and bad usage.
head -c -1 a.csv > cut.csv; cp a.machine.txt cut.machine.txt
reports "a file cut off" 0 "cut.csv:10: the last line is cut off and left out" cut.csv b.csv --csv
gives equal "REFUSED,only in B,ns,,10,,,,,0.02"
sed 's/,100,99,101,/,100,101,99,/' a.csv > wrong.csv
reports "a damaged row" 2 "wrong.csv:2: ns 100 is not between ns_low 101 and ns_high 99" wrong.csv b.csv --csv
: > void.csv
exits "an empty file" 2 a.csv void.csv
refuses "a missing file" "nowhere.csv: cannot read it" a.csv nowhere.csv
refuses "a file and a folder" "a.csv is no folder, and old is a folder" a.csv old
exits "one file" 2 a.csv
exits "three files" 2 a.csv b.csv a.csv
exits "no file" 2
for bad in 0 -1 1 2% 0.02x nan ''; do exits "--margin '$bad'" 2 a.csv b.csv --margin "$bad"; done
full_disk 1 compare a.csv b.csv && says "writing the results failed"

summary
