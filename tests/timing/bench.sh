#!/usr/bin/env bash
# Tests the output of `normlab bench` and `normlab limit`, and how they stop. No time is asserted,
# because machines are noisy. Usage: tests/timing/bench.sh PROGRAM. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
under_test=bench
bench() { run bench "$@"; }
all() { # PATTERN COLUMN [FILE]: at least one value, and every one matches
    column "${@:2}" | grep -q . && ! column "${@:2}" | grep -vqE "^($1)$"
}
case=layernorm/forward/f32/8x16/normal

exits "a case is timed" 0 "$case" --seconds 0.01
rungs=$("$normlab" list --csv | awk -F, '$3 ~ /layernorm/ && $4 ~ /forward/ && $5 ~ /f32/ && !$11 && $1 !~ /^peer/ { print $1 }' | sort -u)
holds "every rung has a row" test "$(column impl | sort -u)" = "$rungs"
holds "and only one" test "$(column impl | sort | uniq -d | wc -l)" -eq 0
for name in ns ns_min gbps limit_gbps limit_pct speedup rounds calls; do
    holds "$name is filled" all '[0-9.e+-]+' $name
done
holds "one baseline, verdicts for the others" all 'baseline|FASTER|SLOWER|SAME|NOT RESOLVED' comparison
holds "the naive rung is the baseline" all 'layernorm/naive' baseline
holds "every row has the same number of rounds" test "$(column rounds | sort -u | wc -l)" -eq 1
holds "an estimate of the time comes first" grep -q 'about .* s' stderr

simd=optimized/rows_simd
isas() { # the instruction sets on which the vectors were timed
    awk -F, -v name=$simd '$2 == name { printf "%s ", $3 }' stdout
}
built=$("$normlab" list --csv | awk -F, -v name=$simd '$1 == name { printf "%s ", $2 }')
here=$("$normlab" list --csv | awk -F, -v name=$simd '$1 == name && $10 { isa = $2 } END { printf "%s ", isa }')
narrowest=${built%% *}
bench "$case" --seconds 0.005
holds "the widest that runs here is timed" test "$(isas)" = "$here"
bench "$case" --seconds 0.005 --impl $simd,layernorm/naive
holds "with --impl as well" test "$(isas)" = "$here"
bench "$case" --seconds 0.005 --impl "$simd@$narrowest"
holds "@$narrowest selects another" test "$(isas)" = "$narrowest "
bench "$case" --seconds 0.005 --impl "$simd@*"
holds "@* selects all" test "$(isas | tr ' ' '\n' | sort)" = "$(printf %s "$built" | tr ' ' '\n' | sort)" # skipped ones come first
export NL_ISA=$narrowest
bench "$case" --seconds 0.005
holds "NL_ISA narrows" test "$(isas)" = "$narrowest "
unset NL_ISA

half=rmsnorm/forward/bf16/8x64/normal
bench $half --seconds 0.005
holds "no demonstration is timed by default" test "$(grep -c half/ stdout)" -eq 0
bench $half --seconds 0.005 --impl 'rmsnorm/naive,half/*_sum'
holds "but with --impl" test "$(column impl | tr '\n' ' ')" = "rmsnorm/naive half/rmsnorm_sum "
holds "and its verdict is demo" test "$(column verdict | tr '\n' ' ')" = "ok demo "

bench "$case" --seconds 0.01 --baseline layernorm/refined
holds "--baseline chooses another" all 'layernorm/refined' baseline
bench "$case" --seconds 5 --precision 10
holds "stops when precise enough" all precise stopped
bench "$case" --seconds 0.005 --precision 0.000001
holds "stops when the time is up" all time stopped
for option in rotating cold in-place streaming skew=64; do
    bench "$case/$option" --seconds 0.005
    holds "$option is timed" all '[0-9.e+-]+' ns
done
exits "more threads than the machine has are no success" 1 "$case/threads=4096" --seconds 0.005
holds "which is a row with skip" all skip verdict

bench "$case" --seconds 0.005 --out one.csv
holds "the machine stands beside" grep -q '^cpu: ' one.machine.txt
holds "and the doctor's findings" grep -q '^doctor: ' one.machine.txt
holds "the limit and the baseline again are in the rounds" grep -q '(limit).*' one.rounds.csv
holds "(baseline again)" grep -q '(baseline again)' one.rounds.csv

passes=('{layernorm,rmsnorm}/forward/f32/{4..6}x16/normal' --impl '*/naive,*/one_pass' --quick --seconds 0.002)
exits "--passes runs" 0 "${passes[@]}" --passes 2 --out kept
holds "two passes, whole" test "$(ls -A kept | wc -l) $(ls kept/*/bench-*[0-9].csv | wc -l)" = "2 6"
holds "in another order" test "$(cat kept/*/cases.txt | sort | uniq -d | wc -l)" = 6 -a "$(cat kept/*/cases.txt | head -6)" != "$(cat kept/*/cases.txt | tail -6)" # fails by chance in 1 of 720 runs
holds "fewer than three are a first look" grep -q 'fewer than 3 passes' stderr
bench "${passes[@]}" --passes 1 --out kept
holds "the next call adds to them" grep -q '^3 passes in kept; 12 rows, 0 failed' stderr
holds "the table has them" test "$(grep -c ' 3 .*x  *\[.*baseline' stdout)" -eq 6
TMPDIR=$work/[t]mp && mkdir [t]mp && export TMPDIR
bench "${passes[@]}" --passes 3
holds "without --out they are pooled, and go again" test "$(column passes | sort -u)" = 3
holds "a row for each" test "$(column ns | grep -c .)" -eq 12
"$normlab" compare kept kept --csv >same.csv 2>stderr
holds "compare takes them" test "$(grep -v ',all 3 cases,' same.csv | grep -cE 'SAME|NOT RESOLVED')" -eq 12
holds "and says how large the noise of each level is" grep -q "A: 3 passes; medians over rows:" stderr
sed -i '2s/naive/native/' "$(ls kept/*/bench-2.csv | tail -1)"
"$normlab" compare kept kept >stdout 2>stderr
holds "a process that has changed is left out" grep -q 'warning: 1 of 9 processes are left out' stderr
holds "and not its pass" grep -q '^B: 3 passes' stderr
exits "passes without --quick are another pool" 2 "$case" --passes 1 --out kept
holds "which is said before measuring" grep -q "in the passes of kept, quick is 'yes', and now it is 'no'" stderr
mkdir -p older/0 && touch older/0/bench.csv
exits "passes of an older version" 2 "$case" --passes 1 --out older
holds "are not measured again in vain" grep -q "only passes of an older version: measure them again" stderr
exits "a file is no folder for passes" 2 "$case" --passes 2 --out x.csv
"$normlab" bench "${passes[@]}" --seconds 3 --precision 0.000001 --passes 3 --out torn >/dev/null 2>stderr &
sleep 1
kill -INT $!
wait $!
holds "Ctrl-C ends passes" test $? -eq 130
holds "and leaves no half one" test "$(ls torn/*/bench-*.csv 2>/dev/null | wc -l)" -eq 0
"$normlab" bench "${passes[@]}" --seconds 3 --precision 0.000001 --passes 3 --out killed >/dev/null 2>&1 &
sleep 1
kill -KILL $! && wait $!
sleep 0.2
holds "nobody computes for one that was killed" test -z "$(grep -lsz 'killed[/]' /proc/[0-9]*/cmdline)"
mkdir [t]mp/other && touch [t]mp/other/bench-1.csv [t]mp/file
bench "${passes[@]}" --passes 1
holds "temporary passes leave nothing, and take nothing else" test "$(cd [t]mp && echo .[!.]* * */*)" = ".[!.]* file other other/bench-1.csv"
unset TMPDIR

"$normlab" bench '{layernorm,rmsnorm}/forward/f32/{8..64}x512/normal' --seconds 1 --precision 0.000001 --out cut.csv \
    >/dev/null 2>stderr &
sleep 3
kill -INT $!
wait $!
holds "Ctrl-C: exit code 130" test $? -eq 130
holds "Ctrl-C: the message says what is kept" grep -q 'interrupted after' stderr
holds "Ctrl-C: the rows measured are there" all 'ok' verdict cut.csv

for bad in '--precision 0' '--precision x' '--margin -1' '--passes 0' '--passes 1.5' '--baseline nothing/here' '--seconds 0'; do
    # shellcheck disable=SC2086
    exits "refuses $bad" 2 "$case" $bad
done
exits "n = 0 has nothing to time" 1 layernorm/forward/f32/0x64/normal
OMP_STACKSIZE=200000G "$normlab" bench "$case" --threads 2 --seconds 0.001 >/dev/null 2>stderr # libgomp ends the program
check "an exit of the runtime blames no kernel" "$(grep ' called exit()' stderr)"

under_test=limit
exits "limit runs" 0 --quick --seconds 0.0005 --threads 1
holds "limit has rates" all '[0-9.e+]+' gbps
holds "limit has every pattern at every size" test $(($(wc -l <stdout) % 7)) -eq 1
holds "limit names the mover" all '[a-z0-9]+ x [28].*' mover
refuses "limit takes no cases" "takes no cases" layernorm/forward/f32/64x1024/normal

summary
