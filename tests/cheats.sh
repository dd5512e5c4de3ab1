#!/usr/bin/env bash
# Kernels that cheat get no points, and the page says why: each file of tests/cheats/, graded with a secret
# seed and without forbidden words, by the assignment beside it where there is one.
# Usage: tests/cheats.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/shell/common.sh"
unset CC NL_ISA NO_COLOR
under_test=grade
cat >task.txt <<'END'
title cheats
category 0 right: rmsnorm/forward/f32/{3x7,9x64}/normal
speed 100 rmsnorm/forward/f32/64x1024/normal from rmsnorm/naive to optimized/rows_simd
END
# Without libseccomp, and under sanitizers, system calls are not refused.
sed 's|(void)threads;|(void)threads; FILE *f = fopen("seal", "w"); if (f) fclose(f);|; s|#include|#include <stdio.h>\n#include|' \
    "$root/rmsnorm/naive.c" >seal.c
"$normlab" try seal.c rmsnorm/forward/f32/3x7/normal >stdout 2>&1
sealed=$(grep -c 'called openat' stdout)
rm -f seal
json() { python3 -c "import json, sys; r = json.load(open(sys.argv[1])); print($2)" "$1"; }

graded=0
for cheat in "$root"/tests/cheats/*.c; do
    name=$(basename "$cheat")
    if grep -q '^// needs: seccomp' "$cheat" && [ "$sealed" -eq 0 ]; then continue; fi
    task=${cheat%.c}.txt
    [ -e "$task" ] || task=task.txt
    echo '{"score": 100}' >results.json
    exits "$name" 1 --seconds 0.05 --seed 4711 --gradescope results.json "$task" "$cheat"
    prints "0 of 100 points"
    while read -r hint; do prints "$hint"; done < <(sed -n 's|^// expect: hint ||p' "$cheat")
    check "  the points are the grader's" "$([ "$(json results.json 'r["score"], r["output"]')" = "0.0 cheats" ] || cat results.json)"
    graded=$((graded + 1))
done
check "cheats were graded" "$([ "$graded" -ge 6 ] || echo "$graded")"
check "no file was left" "$(ls | grep -vE "^(task.txt|seal.c|std(out|err)|results.json)$")"

# The same file on the data that everybody sees: it knows their answers.
exits "answers.c without a seed" 1 --seconds 0.001 task.txt "$root/tests/cheats/answers.c"
check "  is right there" "$(grep -qE 'rmsnorm/forward/f32/9x64/normal' stdout || cat stdout)"
summary
