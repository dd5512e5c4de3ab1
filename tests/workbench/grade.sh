#!/usr/bin/env bash
# Tests `normlab grade` with right, wrong, crashing and refused kernels and with bad assignments, and its output files
# for Gradescope and CI services. Usage: tests/workbench/grade.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
unset NL_ISA NO_COLOR
under_test=grade
rung=$root/rmsnorm/naive.c
fast=(--seconds 0.001)
export CC=$quick
cat >task.txt <<'END'
# A comment.
title RMSNorm & "more"
category 20 the formula: rmsnorm/forward/f32/{3x7,9x64}/normal
category 10 NaN: rmsnorm/forward/f32/3x7/nan rmsnorm/forward/f32/3x7/inf
speed 30 rmsnorm/forward/f32/64x1024/normal from rmsnorm/naive to optimized/rows_simd
error 40 rmsnorm/forward/f32/9x64/normal from 1000000 to 999999
forbid fopen pragma
END
xml() { python3 -c "import sys, xml.etree.ElementTree as e; r = e.parse(sys.argv[1]).getroot(); print($2)" "$1"; }
is() { check "$1" "$([ "$2" = "$3" ] || echo "is '$2', not '$3'")"; }

exits "a right kernel" 0 "${fast[@]}" --gradescope a.json --junit a.xml task.txt "$rung"
prints "RMSNorm & \"more\": $rung"
prints "ok        20 of 20     the formula"
prints "right on 2 cases"
prints "40 of 40     error"
prints "optimized/rows_simd@$("$normlab" list --csv | awk -F, '$1 == "optimized/rows_simd" && $10 { i = $2 } END { print i }') is at"
is "  points" "$(json a.json 'r["tests"][0]["score"], r["tests"][1]["max_score"], r["output"]')" "20.0 10.0 RMSNorm & \"more\""
is "  all passed" "$(json a.json '{t["status"] for t in r["tests"]}')" "{'passed'}"
is "  JUnit" "$(xml a.xml 'r.get("tests"), r.get("failures"), r[0].get("name")')" "4 0 the formula"

sed 's|sqrtf(mean_square + v.eps)|(sqrtf(mean_square) + v.eps)|' "$rung" >wrong.c
exits "a wrong one" 1 "${fast[@]}" --gradescope b.json --junit b.xml task.txt wrong.c
prints "FAIL       0 of 20     the formula"
prints "rmsnorm/forward/f32/3x7/normal"
prints "cause: likely: eps outside the root"
prints "not measured: the kernel must be right first"
prints "0 of 100 points"
is "  JSON" "$(json b.json 'r["score"], r["tests"][0]["status"]')" "0.0 failed"
is "  JUnit" "$(xml b.xml 'r.get("failures")')" 4

sed 's|i < v.c; i++)$|i < 2 * v.c; i++)|' "$rung" >crash.c
answers "one that crashes" 1 "1 element past its end" "${fast[@]}" task.txt crash.c
sed 's|float mean_square = 0;|for (volatile int k = 1; k;) {} float mean_square = 0;|' "$rung" >loop.c
answers "one that loops" 1 "has not returned after" "${fast[@]}" task.txt loop.c
sed 's|(void)threads;|(void)threads; puts("\\xff\\xc3 \\xe2\\x82\\xac \\xed\\xa0\\x80 \\x7f");|; s|#include|#include <stdio.h>\n#include|' "$rung" >bytes.c
exits "one that prints no UTF-8" 1 "${fast[@]}" --gradescope d.json --junit d.xml task.txt bytes.c
is "  JSON" "$(json d.json 'ascii(r["tests"][0]["output"]).split(chr(34))[1]')" '?? \u20ac ??? \x7f'
is "  JUnit" "$(xml d.xml 'r.get("failures")')" 4
sed 's|(void)threads;|(void)threads; static int n; if (++n == 100) exit(0);|; s|#include|#include <stdlib.h>\n#include|' "$rung" >leave.c
exits "one that ends the program" 1 "${fast[@]}" task.txt leave.c
prints "it calls exit, which a graded kernel must not"
prints "0 of 100 points"
echo 'int x = ;' >broken.c
exits "one that does not compile" 1 --gradescope c.json task.txt broken.c
is "  0 points" "$(json c.json 'r["score"]')" 0.0
prints "0 of 100 points"
sed 's|(void)threads;|(void)threads; FILE *f = fopen("x", "r"); (void)f;|; s|#include|#include <stdio.h>\n#include|' "$rung" >forbidden.c
answers "a forbidden word" 1 "the assignment forbids 'fopen'" task.txt forbidden.c
{ printf '/* a byte of zero: \0 */\n' && cat forbidden.c; } >hidden.c
answers "one behind a byte of zero" 1 "the assignment forbids 'fopen'" task.txt hidden.c
{ head -c 1100000 /dev/zero | tr '\0' '\n' && cat forbidden.c; } >long.c
answers "one behind a million of lines" 1 "it has more than 1048575 characters" task.txt long.c
sed 's|(void)threads;|(void)threads; /* fopen */ const char *s = "pragma \\" fopen"; (void)s; int my_fopen = 0; (void)my_fopen;|' "$rung" >allowed.c
exits "in a comment, a text or a longer word it is none" 0 "${fast[@]}" task.txt allowed.c
sed 's|^title.*|&\nmethod two-pass|' task.txt >asks.txt
exits "the method that it asks for" 0 "${fast[@]}" asks.txt "$rung"
sed -i 's|two-pass|refined|' asks.txt
exits "another one" 1 asks.txt "$rung"
prints "its .method is not refined, which the assignment requires"
prints "0 of 100 points"
answers "a kernel for another layer" 1 "the kernel does not accept this case" "${fast[@]}" task.txt "$root/layernorm/naive.c"

if type clang >/dev/null 2>&1; then
    CC=clang exits "another compiler" 0 "${fast[@]}" task.txt "$rung"
fi
exits "a seed" 0 "${fast[@]}" --seed 5 task.txt "$rung"
units=$(grep -o '[^ ]* units' stdout)
exits "the same seed" 0 "${fast[@]}" --seed 5 task.txt "$rung"
is "  the same data" "$(grep -o '[^ ]* units' stdout)" "$units"
exits "no seed" 0 "${fast[@]}" task.txt "$rung"
check "  other data" "$([ "$(grep -o '[^ ]* units' stdout)" != "$units" ] || echo "also $units")"

# Two runs give the same points, except for speed, which may differ by a step.
exits "one run" 0 "${fast[@]}" --gradescope e.json task.txt "$rung"
exits "another run" 0 "${fast[@]}" --gradescope f.json task.txt "$rung"
others='[(t["name"], t["score"]) for t in r["tests"] if t["name"] != "speed"]'
is "  the same points" "$(json e.json "$others")" "$(json f.json "$others")"
is "  whole steps of 6 points" "$(json e.json '[t["score"] % 6 for t in r["tests"] if t["name"] == "speed"]')" "[0.0]"

{ sed '/^speed/d; s|^error.*|error 40 layernorm/forward/f32/9x64/offset:65536 from 9 to 1|; s|category.*|category 1 a: layernorm/forward/f32/3x7/normal|' task.txt; } >far.txt
answers "an error without end" 0 "NaN or infinity where a number should be" far.txt "$root/layernorm/one_pass.c"

cat >bits.txt <<'END'
title bits
bits 60 rows and one long row: rmsnorm/forward/f32/{64x64,1x20000}/normal
category 40 right: rmsnorm/forward/f32/3x7/normal
END
exits "a kernel on one thread has no bits to compare" 1 bits.txt "$rung"
prints "the kernel is not .threaded"
prints "40 of 100 points"

cat >batch.txt <<'END'
title batch
batch 60 alone and together: rmsnorm/forward/f32/{2,9}x64/normal
category 40 right: rmsnorm/forward/f32/9x64/normal
END
exits "a row's bits in every batch" 0 batch.txt "$rung"
prints "a row has the same bits in every batch, on 2 cases"
prints "100 of 100 points"
sed 's|nl_x(row, i) / sqrtf|(v.n > 2 ? 1.0000001f : 1) * &|' "$rung" >batch.c
exits "bits that depend on the batch" 1 batch.txt batch.c
prints "FAIL       0 of 60     alone and together"
prints "depends on the batch: y[0]["
prints "40 of 100 points"

refuses() { # refuses WHAT LINE MESSAGE
    { echo "title x"; echo "category 1 a: rmsnorm/forward/f32/3x7/normal"; printf '%s\n' "$2"; } >bad.txt
    reports "$1" 2 "bad.txt:3: $3" bad.txt "$rung"
}
refuses "an unknown key" "points 3" "'points' should be title, category, bits, batch, speed, count, error, method, headers, forbid or allow"
refuses "no such method" "method three-pass" "'three-pass' should be one-pass, shifted, welford, two-pass or refined"
refuses "points that are none" "category ten a: rmsnorm/forward/f32/3x7/normal" "'ten' should be a number from 0 to 1e+09"
refuses "no colon" "category 1 rmsnorm/forward/f32/3x7/normal" "should be: category POINTS NAME: CASE..."
refuses "no case" "category 1 a: " "should be: category POINTS NAME: CASE..."
refuses "no such case" "category 1 a: rmsnorm/sideways/f32/3x7/normal" "case rmsnorm/sideways"
refuses "half a scale" "speed 1 rmsnorm/forward/f32/3x7/normal from rmsnorm/naive" "should be: speed POINTS CASE from RUNG to RUNG (or limit)"
refuses "several cases" "error 1 rmsnorm/forward/f32/{3x7,3x8}/normal from 9 to 1" "error is measured on one case"
refuses "an error the wrong way round" "error 1 rmsnorm/forward/f32/3x7/normal from 1 to 9" "1 units should be more than 9"
refuses "no word" "forbid ##" "'##' should be a word of C"
refuses "a case that no kernel takes" "category 1 b: layernorm/inference/f32/3x7/normal" "case layernorm/inference/f32/3x7/normal: this layer keeps no running statistics"
refuses "a rung that does not take the case" "speed 1 rmsnorm/forward/f32/64x1024/normal from layernorm/naive to limit" "cannot be met: layernorm/naive does not accept rmsnorm"
refuses "rotating buffers" "speed 1 rmsnorm/forward/f32/64x1024/normal/rotating from rmsnorm/naive to limit" "a speed is measured on warm or cold buffers"
refuses "a batch of one row" "batch 1 b: rmsnorm/forward/f32/1x7/normal" "cannot test batches: rmsnorm/forward/f32/1x7/normal"
refuses "no such rung" "speed 1 rmsnorm/forward/f32/64x1024/normal from rmsnorm/nave to limit" "there is no rung rmsnorm/nave"
for steps in "in 0 steps" "in four steps" "in 4" "4 steps" "in 4 steps more"; do
    refuses "'$steps'" "speed 1 rmsnorm/forward/f32/3x7/normal from rmsnorm/naive to limit $steps" "should be: speed POINTS CASE from RUNG to RUNG (or limit), perhaps with \`in N steps\` at the end"
done
echo "title x" >bad.txt
reports "an assignment without a category" 2 "it has no category" bad.txt "$rung"
exits "no file" 2 task.txt
reports "no such file" 2 "cannot read nowhere.c" task.txt nowhere.c

# Grades as Gradescope does: the bundle is in source/, one file in submission/, the points in results/.
mkdir -p autograder/{source,submission,results}
cp task.txt autograder/source/assignment.txt
echo 7 >autograder/source/seed
cp wrong.c autograder/submission/kernel.c
autograder() { AUTOGRADER=$PWD/autograder NORMLAB=$normlab bash "$root/examples/grading/gradescope/run_autograder" >/dev/null 2>&1; }
autograder
is "Gradescope: a wrong kernel" "$(json autograder/results/results.json 'r["score"], len(r["tests"])')" "0.0 4"
cp "$rung" autograder/submission/kernel.c
autograder
is "Gradescope: a right one" "$(json autograder/results/results.json '{t["status"] for t in r["tests"]}')" "{'passed'}"
rm autograder/results/results.json
cp leave.c autograder/submission/kernel.c
autograder
is "Gradescope: one that ends the program" "$(json autograder/results/results.json 'r["score"], "exit" in r["tests"][0]["output"]')" "0.0 True"
touch autograder/submission/two.c
autograder
is "Gradescope: two files" "$(json autograder/results/results.json 'r["output"]')" "Hand in one .c file."
check "Gradescope: setup.sh is a script" "$(bash -n "$root/examples/grading/gradescope/setup.sh" 2>&1)"

summary
