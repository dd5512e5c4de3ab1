#!/usr/bin/env bash
# Tests `normlab study` as a user sees it: exit codes, CSV and result files. Every experiment with `# command: study`
# must be in --help and have a slide. Usage: tests/studies/study.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
under_test=study

points() { # points FILE STUDY...: a header, then only points of the studies, in their order
    check "  has the points of ${*:2}" "$([ "$(head -1 "$1")" = study,panel,series,x,y ] || shows head -1 "$1"
        awk -F, 'NR > 1 && ($(NF - 1) "" !~ /^[0-9.e+-]+$/ || $NF "" !~ /^[0-9.e+-]+$/)' "$1" | head -3
        [ "$(tail -n +2 "$1" | cut -d, -f1 | uniq | xargs)" = "${*:2}" ] || cut -d, -f1 "$1" | uniq)"
}

exits "--help" 0 --help
cp stdout help
for word in --out --quick length 'experiments/eps.txt'; do
    check "  has $word" "$(grep -qF -- "$word" help || shows cat help)"
done
exits "a study" 0 eps --quick
points stdout eps
check "  nothing on stderr" "$(head -3 stderr)"
cp stdout first.csv
exits "a study by its file, into a file" 0 "$root/experiments/eps.txt" --quick --out eps.csv
quiet
says "results: eps.csv"
check "  has the same points" "$(cmp eps.csv first.csv 2>&1)"
check "  has the machine beside it" "$(grep -q '^cpu: ' eps.machine.txt 2>&1 || ls)"
exits "a study that times" 0 peak --quick
points stdout peak
exits "two studies, one of them twice" 0 length --quick eps length
points stdout length eps

"$normlab" study model_step --quick > stdout 2> stderr; code=$?
if [ $code -eq 1 ]; then
    check "without OpenBLAS" ""
    says "there is no OpenBLAS here: apt-get install libopenblas0-pthread"
else
    check "with OpenBLAS" "$([ $code -eq 0 ] || echo "exit code $code")"
    check "  which it names" "$(grep -q 'matrix products, threads",OpenBLAS' stdout || shows head -3 stdout)"
    ! grep -qw avx2 /proc/cpuinfo ||
        check "  whose kernels are not for SSE3" "$(grep -o 'OpenBLAS.* Prescott ' stdout)"
    check "  has a share for each norm" "$(grep -c '"share of [A-Za-z]*Norm, %"' stdout | grep -vx 18)"
fi

exits "no study" 2
quiet
says "which study?"
says "How does the error of a sum of squares"
exits "an unknown study" 2 eps lenght --quick
quiet
says "which study is 'lenght'?"
says "  gradients "
exits "a file that is not there" 2 experiments/eps.txt
quiet
says "cannot read experiments/eps.txt: No such file"
exits "folders that are not there" 2 eps --quick --out no/where/eps.csv
says "the folder of no/where/eps.csv is missing: mkdir -p 'no/where'"
says "cannot write no/where/eps.csv: No such file"
full_disk 1 study eps --quick

interrupts "interrupted" cut.machine.txt study length casting --out cut.csv
says "what was measured is kept"
check "  the file has its header" "$(grep -qx study,panel,series,x,y cut.csv || shows cat cut.csv)"

for file in "$root"/experiments/*.txt; do
    grep -q '^# command: study$' "$file" || continue
    name=$(basename "$file" .txt)
    check "experiments/$name.txt is a study" "$(grep -q "^  $name  *[A-Z].*?$" help || shows cat help)"
    check "  and says nothing else" "$(grep -v '^#' "$file")"
    check "  and has a slide" "$([ -f "$root/plots/slides/$name.py" ] || echo "no plots/slides/$name.py")"
done

summary
