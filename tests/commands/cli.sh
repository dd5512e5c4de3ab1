#!/usr/bin/env bash
# Tests `list`, `check` and a little of `bench` as a user sees them: exit codes, stdout and stderr, result files,
# terminals and full disks. Usage: tests/commands/cli.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
unset NO_COLOR NL_ISA
good=rmsnorm/forward/f32/3x4/normal

# accepting: the implementations that accept $good, without peers, which run only if selected. takers: those that this
# processor can run.
accepting() { awk -F, '$1 !~ /^peer\// && $3 ~ /(^| )rmsnorm/ && $4 ~ /forward/ && $5 ~ /f32/' list.csv; }
takers() { accepting | awk -F, '$10 == 1'; }

exits "normlab" 2
says "normlab COMMAND"
quiet
refuses "an unknown command" "'frobnicate'; see" frobnicate
refuses "a command misspelt" "'chekc': did you mean check?" chekc
answers "help of a command" 0 "normlab check [options]" help check
refuses "a misspelt help" "did you mean help?" halp
refuses "two letters swapped" "did you mean help?" hlep
refuses "help of what is no command" "no command 'chek'" help chek
for option in --help -h help; do exits "normlab $option" 0 $option; prints "Exit codes"; done
commands=$(sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p' stdout)
check "  names every harness/commands/cmd_*.c: subcommands[] of main.c" \
    "$(for v in "$root"/harness/commands/cmd_*.c; do v=${v##*/cmd_} && grep -q "^  ${v%.c} " stdout || echo "no ${v%.c}"; done)"
for command in $commands; do
    answers "normlab $command --help" 0 "normlab $command" $command --help
    check "  has examples" "$(grep -q "^  normlab $command " stdout || shows cat stdout)"
    check "  nothing on stderr" "$(head -1 stderr)"
    exits "normlab $command --no-such-option" 2 $command --no-such-option
    says "normlab $command --help"
    quiet
done
answers "normlab --version" 0 "version: " --version

exits "list" 0 list
cp stdout list.txt
check "  fits 100 columns" "$(awk 'length > 100' list.txt | head -3)"
exits "list --csv" 0 list --csv
cp stdout list.csv
check "  has its header" "$([ "$(head -1 list.csv)" = \
    impl,isa,ops,passes,dtypes,method,lanes,threaded,range_safe,runs_here,demonstration,c_max,about ] || shows head -1 list.csv)"
check "  the same names as the table" "$(sed 1d list.csv | cut -d, -f1 | sort -u |
    diff - <(sed '/^$/,$d; s/: .*//' list.txt | sort) | head -5)"
check "  ends with the tuning" "$(tail -3 list.txt | grep -q '^tuning of nl_best() is ' || shows tail -3 list.txt)"
exits "list PATTERN" 0 list scaled 'layernorm/na*'
check "  has those, and what they take" "$(diff <(sed '/^$/,$d; s/: .*//' stdout) - << 'END'
layernorm/naive
    layernorm; forward; f32 f16 bf16; two-pass; c
rmsnorm/scaled
    rmsnorm qwen2_rmsnorm; forward; f32 f16 bf16; -; c
END
)"
exits "list --csv PATTERN" 0 list --csv layernorm/naive
check "  has that" "$([ "$(sed 1d stdout | cut -d, -f1)" = layernorm/naive ] || shows cat stdout)"
refuses "list of nothing" "no implementation is called 'nave': did you mean" list nave
check "  twelve fields each, plain C runs" "$(awk -F, 'NR > 1 && (NF < 12 || $2 == "c" && $10 != 1)' list.csv)"
check "  each name once" "$(cut -d, -f1,2 list.csv | sort | uniq -d)"
check "  the same demonstrations as the table" "$(awk -F, 'NR > 1 && $11 == 1 { print $1 }' list.csv |
    sort -u | diff - <(sed -n 's/: demonstration: .*//p' list.txt | sort))"
check "  half/rmsnorm_sum is one" "$(grep -q '^half/rmsnorm_sum,c,.*,1,0,"' list.csv || grep half list.csv)"
runs() { awk -F, 'NR > 1 && $10 == 1 { print $2 }' "$1" | uniq; }
for isa in $(runs list.csv); do
    NL_ISA=$isa exits "NL_ISA=$isa" 0 list --csv
    check "  leaves what is not wider" "$(runs list.csv | sed "/^$isa\$/q" | diff - <(runs stdout))"
done
NL_ISA='' exits "an empty NL_ISA" 0 list --csv
check "  is none" "$(diff list.csv stdout)"
NL_ISA=mmx refuses "an unknown NL_ISA" "'mmx' and should be one of: c" list

exits "check of a good case" 0 check $good
check "  a row for each implementation, ok if it runs here" \
    "$(diff <(paste -d, <(column impl stdout) <(column verdict stdout)) \
        <(accepting | awk -F, '{ print $1 "," ($10 == 1 ? "ok" : "skip") }'))"
check "  all lines as wide as the header" "$(awk -F, 'NR == 1 { n = NF } NF != n' stdout)"
says "1 case: $(takers | wc -l) ok, 0 demo, $(($(accepting | wc -l) - $(takers | wc -l))) skipped, 0 failed"
check "  no escape sequences in pipes" "$(grep -l $'\033' stdout stderr)"
exits "check --impl best" 0 check --impl best $good
check "  has one row" "$([ "$(wc -l < stdout)" -eq 2 ] || shows cat stdout)"
exits "check --impl with globs and an ISA" 0 check --impl '*/naive@c,rmsnorm/sca*' $good
check "  has those rows" "$([ "$(column impl stdout | sort -u | tr '\n' ' ')" = \
    "rmsnorm/naive rmsnorm/scaled " ] || shows cat stdout)"
exits "check with braces" 0 check "rmsnorm/{forward,backward}/f32/{1..12}x5/normal{,/in-place}"
check "  has every row, though more than 20 cases" \
    "$([ "$(column case stdout | sort -u | wc -l)" -eq 48 ] || wc -l stdout)"
exits "check of many, in several processes" 0 check "layernorm/forward/{f32,f16}/3x{1..60}/normal"
mv stdout many
# A process that may use one processor must not use others.
taskset -c "$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')" "$normlab" check \
    "layernorm/forward/{f32,f16}/3x{1..60}/normal" > stdout 2> stderr
check "  says what one process says" "$(cmp many stdout)"
reports "check --quick" 0 "leaves out 1 of 2" check --quick "rmsnorm/forward/f32/{3x4,2048x1025}/normal"
check "  has the small case" "$([ "$(column case stdout | sort -u)" = $good ] || shows cat stdout)"

reports "an implementation for another layer" 1 "nothing was compared" check --impl layernorm/naive $good
for shape in 4611686018427387904x4 1x4611686018427387904; do
    reports "the shape $shape" 2 "overflows" check rmsnorm/forward/f32/$shape/normal
done

refuses "an unknown implementation" "'no/such'; see" check --impl no/such $good
refuses "a part of a name" "did you mean batchnorm/naive, gated_rmsnorm/naive or layernorm/naive?" check --impl naive $good
refuses "a name misspelt" "did you mean rmsnorm/scaled?" check --impl rmsnorm/scalde@c $good
refuses "a bad spelling" "'fwd' should be" check rmsnorm/fwd/f32/3x5/normal
refuses "a bad spelling among good ones" "'f64'" check $good "rmsnorm/forward/{f32,f64}/3x5/normal"
refuses "a missing file" "no file of that name" check no.txt
refuses "missing data" no.npy check rmsnorm/forward/f32/file/npy:no.npy
for n in 0 -1 two 1.5 5000; do refuses "--threads $n" "--threads '$n'" check --threads $n $good; done
refuses "--out without a file" "out" check $good --out
printf '# why\n\n%s # this\nrmsnorm/forward/f32/3x5/none\n' $good > cases.txt
refuses "a bad line in a file" "cases.txt:4: " check cases.txt
sed -i 4d cases.txt
printf 'rmsnorm/forward/f32/3x5/\033[31mred\n' > red.txt
refuses "a control character in a file" "red.txt:1: byte 0x1b" check red.txt
check "  which is not echoed" "$(grep -c $'\033' stderr | grep -v '^0')"
refuses "a control character in a case" "control character 0x1b" check "$(cat red.txt).txt"
check "  which is not echoed" "$(grep -c $'\033' stderr | grep -v '^0')"
reports "a file of cases, and a case" 0 "2 cases: " check cases.txt rmsnorm/forward/f16/2x2/exact
check "  of which each has a kernel" "$(grep 'other kernels' stderr)"
reports "cases of which one has no kernel" 0 " 0 failed; 1 accepted only by other kernels" check --impl rmsnorm/naive \
    '{layernorm,rmsnorm}/forward/f32/3x5/normal'
says "closest to its bound: rmsnorm/naive@c, "
says " % on rmsnorm/forward/f32/3x5/normal"

exits "check --out" 0 check --out new.csv $good
check "  the table on stdout" "$(grep -q '^  implementation' stdout || shows cat stdout)"
check "  no CSV on stdout" "$(grep '^case,' stdout)"
check "  each row once" "$(cat stdout stderr | grep -c 'rmsnorm/naive ' | grep -vx 1)"
check "  no escape sequences" "$(grep -l $'\033' stdout stderr)"
check "  a row for each implementation in the file" \
    "$(diff <(column impl new.csv) <(accepting | cut -d, -f1))"
if [ -f "$root/docs/results.md" ]; then
    check "  docs/results.md knows every column" "$(sed -n 's/^| \([a-z_, ]*\) |.*/\1/p' \
        "$root/docs/results.md" | tr -d ' ' | tr , '\n' > known
        head -1 new.csv | tr , '\n' | grep -vxFf known)"
fi
check "  the machine's facts beside it" "$(for key in cpu compiler flags commit 'long double'; do
    grep -q "^$key: " new.machine.txt || echo "no $key"; done; grep -v '^[a-z0-9 _-]*: ' new.machine.txt)"
if type flock >/dev/null 2>&1; then
    exec 5>>new.csv && flock 5
    refuses "--out of a file that another process writes" "another process is writing new.csv" check --out new.csv $good
    exec 5>&-
    check "  and keeps it" "$([ -s new.csv ] || echo empty)"
fi
echo old >kept.csv && mkdir kept.machine.txt
refuses "--out without room for the machine's facts" "cannot write FILE.machine.txt" check --out kept.csv $good
check "  and keeps the file" "$(grep -qx old kept.csv || echo lost)"
OMP_PLACES=$'a\nb\e' exits "odd variables" 0 --version
prints "$(grep -q 'threads: OpenMP' stdout && echo 'OMP_PLACES=a?b?' || echo 'without OpenMP')"
refuses "--out into no folder" "no/such/folder.csv" check --out no/such/folder.csv $good

# Sends Ctrl-C as soon as the file has rows. The program sets its handler before it writes the file.
interrupts "check, interrupted" cut.csv check --out cut.csv 'rmsnorm/{forward,backward}/f32/{1..100}x{1..300}/normal'
says "of 60000 cases; cut.csv has only their results"
check "  has whole rows" "$([ "$(wc -l < cut.csv)" -gt 1 ] || shows cat cut.csv; awk -F, 'NR == 1 { n = NF } NF != n' cut.csv)"

exits "bench" 0 bench --quick $good
check "  every row has its ns" \
    "$([ "$(column ns stdout | grep -cE '^[0-9.e+]+$')" -eq "$(takers | cut -d, -f1 | sort -u | wc -l)" ] || shows cat stdout)"
check "  every row is ok" "$([ "$(column verdict stdout | sort -u)" = ok ] || shows cat stdout)"
refuses "bench without a case" "name a case" bench
for line in 'limit --impl best' 'limit --baseline best' 'limit --margin 1' 'limit --passes 2' 'tune --impl best' \
    'tune --baseline best' 'tune --passes 2' 'check --seconds 1' "bench $good --errors x.csv"; do
    # shellcheck disable=SC2086
    refuses "$line" "no option" $line
done

for line in "check $good" "bench --quick $good" "list --csv" list; do
    # shellcheck disable=SC2086
    full_disk 1 $line
done

TERM=xterm terminal check $good
check "a terminal" "$([ $code -eq 0 ] || echo "exit code $code: $(head -3 stderr)")"
prints "  implementation "
check "  no CSV" "$(grep '^case,' stdout)"
check "  in colour" "$(grep -q $'\033\[32mok' stdout || shows cat -v stdout)"
for variable in NO_COLOR=1 TERM=dumb; do
    (export TERM=xterm "${variable?}" && terminal check $good)
    prints "  implementation "
    check "  no escape sequences with $variable" "$(grep $'\033' stdout | cat -v)"
done

summary
