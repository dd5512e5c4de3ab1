#!/usr/bin/env bash
# Tests speed that is counted instead of timed: `normlab count`, its part of a grade, and the leaderboard of grades.
# Usage: tests/workbench/count.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
type valgrind >/dev/null || { echo "skip  no valgrind"; exit 77; }
! "$normlab" --version | grep -q fsanitize || { echo "skip  valgrind cannot run a program with a sanitizer"; exit 77; }
unset NL_ISA NO_COLOR CC
case=rmsnorm/forward/f32/8x256/normal
under_test=count
exits "a rung" 0 --impl rmsnorm/one_pass $case
cp stdout first
[ $code -eq 0 ] || { cat stderr; summary; exit; }
other=a-long-word-in-the-environment exits "once more, in another environment" 0 --impl rmsnorm/one_pass $case
# Addresses differ between runs, so different lines share a set of the simulated caches.
apart() { paste first "$1" | awk '{ if ($2 != $12 || $4 - $14 > 8 || $14 - $4 > 8) print }'; }
check "  as many instructions, a few misses apart" "$(apart stdout)"
mkdir a-folder-of-another-name && cp "$normlab" a-folder-of-another-name/copy
a-folder-of-another-name/copy count --impl rmsnorm/one_pass $case >copied
check "a copied program: the same" "$(apart copied)"
instructions() { awk '{ print $2 }' "$1"; }
check "  some instructions for each of 2048 elements" "$(awk '{ if ($2 < 2048 * 2 || $2 > 2048 * 40) print }' first)"
exits "twice the rows" 0 --impl rmsnorm/one_pass ${case/8x/16x}
check "  cost twice as much, nearly" "$(awk -v one="$(instructions first)" '{ if ($2 < 1.9 * one || $2 > 2.1 * one) print one, $0 }' stdout)"
exits "vectors" 0 --impl optimized/rows_simd $case
check "  cost less" "$(awk -v one="$(instructions first)" '{ if ($2 > one / 2) print one, $0 }' stdout)"
exits "a file beside a rung" 0 --impl rmsnorm/naive "$root/rmsnorm/one_pass.c" $case
check "  has a line for each" "$(awk 'END { if (NR != 2) print NR }' stdout)"
sed 's| / v.c + v.eps| / v.c|' "$root/rmsnorm/one_pass.c" >wrong.c
exits "a wrong kernel" 1 --impl rmsnorm/naive wrong.c ${case/normal/scale:1e-3}
says "is wrong on ${case/normal/scale:1e-3}: "
quiet
refuses "no such rung" "no implementation is called 'rmsnorm/nosuch'" --impl rmsnorm/nosuch $case
refuses "a layer that it does not accept" "does not accept" --impl rmsnorm/naive ${case/rmsnorm/layernorm}
refuses "threads" "counting uses one thread" --impl rmsnorm/naive $case/threads=2
refuses "two cases" "name one case, not 2" --impl rmsnorm/naive ${case/8x/{8,9\}x}

under_test=grade
cat >task.txt <<END
title Counted
category 20 right: rmsnorm/forward/f32/3x7/normal
count 30 $case from rmsnorm/scaled to rmsnorm/one_pass in 3 steps
speed 10 rmsnorm/forward/f32/64x1024/normal from rmsnorm/naive to limit
END
exits "a file that is the upper rung" 0 --seconds 0.001 --gradescope ada.json task.txt "$root/rmsnorm/one_pass.c"
prints "      30 of 30     count"
prints "step 3 of 3"
answers "one that is the lower" 0 "       0 of 30     count" --seconds 0.001 --gradescope bob.json task.txt "$root/rmsnorm/scaled.c"
sed 's/mean_square += /mean_square -= /' "$root/rmsnorm/naive.c" >wrong.c
answers "a wrong one" 1 "not measured: the kernel must be right first" --seconds 0 task.txt wrong.c
for line in "count 30 $case from rmsnorm/naive to limit" "count 30 $case from rmsnorm/naive"; do
    sed "s|^count.*|$line|" task.txt >bad.txt
    exits "refused: $line" 2 bad.txt "$root/rmsnorm/naive.c"
done

type python3 >/dev/null || { summary; exit; }
mkdir graded && cp ada.json bob.json graded && cp ada.json graded/eve.json
printf '%s\n' '# who wants to be shown' 'ada: Ada <L>' 'bob: B' >names.txt
board() { ran "$1" "$2" python3 "$root/scripts/leaderboard.py" graded --names names.txt --out board.html; } # NAME CODE
board "a leaderboard" 0
check "  escapes names" "$(grep -q '<td>Ada &lt;L&gt;</td>' board.html || shows cat board.html)"
check "  sorts by points" "$(grep -o '<td>[12]</td><td>[AB]' board.html | tr '\n' ' ' | grep -qx '<td>1</td><td>A <td>2</td><td>B ' || shows cat board.html)"
check "  has per cent of the limit and instructions" "$(grep -q '% of the limit' board.html && grep -q 'instructions, rmsnorm' board.html || shows cat board.html)"
check "  counts who is not named, and does not name them" "$(grep -q '1 more submission ' board.html && ! grep -q eve board.html || shows cat board.html)"
echo 'zoe: Z' >>names.txt && board "a name without a grade" 1
says "has no zoe.json"
sed -i /zoe/d names.txt && echo '{}' >graded/bob.json && board "a damaged grade" 1
says "bob.json is no results.json"
summary
