#!/usr/bin/env bash
# Runs the bundles that scripts/labs.py makes of a lab, as the services do, with the given program: a template for
# GitHub Classroom, an autograder for Gradescope, and a copy without solutions. Also runs the assignment of
# labs/README.md from start to end. Usage: tests/project/bundles.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
unset CC NL_ISA NO_COLOR
labs=(python3 "$root/scripts/labs.py")
lab=$root/labs/7-threads

ran "a template repository" 0 "${labs[@]}" classroom "$lab" repository --owner somebody
check "  has the student's files, and no more" "$(cd repository && find . -type f | sort | diff - <(printf '%s\n' ./.github/workflows/grade.yml ./README.md ./assignment.txt ./kernel.c))"
check "  builds somebody's normlab" "$(grep -q 'repository: somebody/normlab' repository/.github/workflows/grade.yml || shows cat repository/.github/workflows/grade.yml)"
check "  no link leaves it" "$(grep -o '](\.\./[^)]*' repository/README.md)"
mkdir -p runner/build
cp -r repository/. runner && ln -s "$normlab" runner/build/normlab
step=$(sed -n 's/^ *- run: \(build\/normlab grade.*\)$/\1/p' repository/.github/workflows/grade.yml)
check "  its workflow grades" "$([ -n "$step" ] || echo "no such step")"
ran "  the starting file is not right yet" 1 env -C runner bash -e -c "$step"
prints "the kernel is not .threaded"
check "  leaves what is uploaded" "$([ -s runner/grade.xml ] || shows ls runner)"

ran "an autograder" 0 "${labs[@]}" gradescope "$lab" lab.zip --seed 12
mkdir -p autograder/{source,submission,results}
python3 -m zipfile -e lab.zip autograder/source
check "  its seed" "$([ "$(cat autograder/source/seed)" = 12 ] || shows cat autograder/source/seed)"
check "  no solution in it" "$(cd autograder/source && find . -path '*labs/solutions*' -o -path '*labs/*/wrong*')"
cp "$lab/start.c" autograder/submission/kernel.c
AUTOGRADER=$PWD/autograder NORMLAB=$normlab bash autograder/source/run_autograder >stdout 2>stderr
check "  grades as the program does" "$([ "$(json autograder/results/results.json 'r["score"], len(r["tests"])')" = "30.0 6" ] || shows cat autograder/results/results.json)"
if type cmake >/dev/null 2>&1; then # only configures, which finds missing folders: building takes minutes
    ran "  its sources configure" 0 cmake -S autograder/source/normlab -B configured -DBUILD_TESTING=OFF -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
    check "  and have all that a build needs" "$(grep -q 'rows_simd.c' configured/compile_commands.json || shows ls configured)"
fi

ran "a copy for a course" 0 "${labs[@]}" course copy
check "  has the labs" "$([ -f copy/labs/7-threads/start.c ] && [ -f copy/CMakeLists.txt ] || shows ls copy)"
check "  has no solutions" "$(find copy -path '*labs/solutions*' -o -path '*labs/*/wrong*')"
ran "not into a folder with files" 2 "${labs[@]}" course copy
says "copy is not empty"
ran "not without an assignment" 2 "${labs[@]}" classroom "$root/docs" elsewhere --owner me
says "has no assignment.txt"

sed -n '/^   title    Qwen2RMSNorm/,/```$/p' "$root/labs/README.md" | sed 's/^   //; /```/d' >own.txt
exits "the assignment of labs/README.md" 0 grade --seconds 0.001 own.txt "$root/rmsnorm/naive.c"
sed 's|nl_put_y(row, i, |nl_put(row, i, i, |; s|nl_view row = nl_row(v, r);|nl_view row = nl_row(v, r); row.plus_one = false;|' "$root/rmsnorm/naive.c" >gamma.c
exits "  grades gamma instead of 1 + w down" 1 grade --seconds 0.001 own.txt gamma.c
prints "10 of 10     without w"
prints "0 of 30     the formula"
summary
