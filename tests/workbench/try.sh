#!/usr/bin/env bash
# Tests `normlab try`: verdicts on right, wrong and unfinished kernel files, compilers, the user's own cases, --watch.
# No time is asserted. Usage: tests/workbench/try.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
unset CC NL_ISA NO_COLOR
export TMPDIR=$work/tmp
mkdir tmp
under_test=try
rung=$root/rmsnorm/naive.c
"$normlab" try "$rung" rmsnorm/forward/f32/3x7/normal > stdout 2> stderr ||
    { grep -q 'cannot run the compiler' stderr && { echo "skip  no compiler"; exit 77; }; }
fast=(--seconds 0.001)
export CC=$quick

exits "a right kernel" 0 "${fast[@]}" "$rung"
prints "naive.c: compiled by "
prints "try/naive@c: rmsnorm, qwen2_rmsnorm forward in f32, f16, bf16"
prints "  ok    a small case                      2 cases"
prints "  ok    three threads "
prints "rmsnorm/forward/f32/64x1024/normal"
prints "  rmsnorm/naive "
prints "  optimized/"
prints "right on "
prints ": the kernel's method does not cover these data"
prints "  ok    huge and tiny values              8 cases, no bound on 4"
check "  nothing on stderr" "$(cat stderr)"
check "  nothing is left" "$(ls -A tmp)"
# If the machine is busy, the output has more lines, which say so.
check "  one screen" "$([ "$(grep -vcE 'machine is busy|^other work slowed|^by up to|would need about' stdout)" -le 35 ] || cat stdout)"
for r in rmsnorm/naive layernorm/naive batchnorm/naive batchnorm/inference layernorm/backward_recompute; do
    sed 's/v\.eps/1e-5f/g' "$root/$r.c" > eps.c
    answers "eps that is the usual one: $r" 1 "  FAIL  another eps, another momentum" eps.c
done
cp "$rung" ./-o.c
exits "a file like an option" 0 -- -o.c rmsnorm/forward/f32/3x7/normal
"$normlab" try "$rung" rmsnorm/forward/f32/3x7/normal >&- 2> stderr
is_code=$?
check "stdout closed" "$([ $is_code -eq 1 ] && grep -q 'writing to stdout' stderr && ! grep -q printed stderr || shows cat stderr)"
exits "a vector kernel" 0 "${fast[@]}" "$root/optimized/batch_inference.c"
prints "try/batch_inference@$("$normlab" list --csv | awk -F, '$1 == "optimized/batch_inference" && $10 { i = $2 } END { print i }'): "
sed 's|(void)threads;|(void)threads; printf("n is %zu\\nc is %zu\\n", p->n, p->c); fputs("so it is", stderr);|; s|#include|#include <stdio.h>\n&|' "$rung" > prints.c
exits "a kernel that prints" 0 "${fast[@]}" prints.c rmsnorm/forward/f32/{3x7,3x8,3x9,3x10}/normal
check "  is shown, on the first cases" "$(diff <(grep -E '^  (printed|  \||the kernel)' stdout) - << 'END'
  printed on rmsnorm/forward/f32/3x7/normal:
    | n is 3
    | c is 7
    | so it is
  printed on rmsnorm/forward/f32/3x8/normal:
    | n is 3
    | c is 8
    | so it is
  printed on rmsnorm/forward/f32/3x9/normal:
    | n is 3
    | c is 9
    | so it is
  the kernel's output on further cases is not shown
END
)"
prints "not timed: the kernel prints"
sed -i 's|nl_with_type|*(volatile int *)0 = 1; &|' prints.c
answers "one that then crashes" 1 "    | c is 7" "${fast[@]}" prints.c rmsnorm/forward/f32/3x7/normal
sed 's|(void)threads;|assert(threads < 0);|; s|#include|#include <assert.h>\n&|' "$rung" > asserts.c
answers "an assertion" 1 "threads < 0" asserts.c rmsnorm/forward/f32/3x7/normal
exits "a demonstration" 0 "${fast[@]}" "$root/half/rmsnorm_eps.c"
prints "  -     16-bit storage                    4 cases, no bound"
prints ": the kernel is a demonstration"

# A mistake that only some cases show, and the group of cases that finds the mistake.
finds() { # finds GROUP SED-SCRIPT [RUNG]
    sed "$2" "${3:-$rung}" > mistake.c
    check "the mistake '$2' is one" "$(cmp -s "${3:-$rung}" mistake.c && echo "nothing changed")"
    answers "  is found" 1 "  FAIL  $1 " mistake.c
    check "  there first" "$([ "$(grep -m1 FAIL stdout | cut -c9-$((8 + ${#1})))" = "$1" ] || grep FAIL stdout)"
    says "FAIL try/mistake@c on "
    says "     repeat: normlab try 'mistake.c' '"
    check "  once" "$([ "$(grep -c ^FAIL stderr)" -eq 1 ] || shows cat stderr)"
    check "  is not timed" "$(grep baseline stdout)"
}
finds "a small case" 's|i < v.c; i++) mean|i + 1 < v.c; i++) mean|'
prints "  stopped after 3 failures"
says "     cause: likely: the sums miss their last element"
finds "a small case" 's|sqrtf(mean_square + v.eps))|(sqrtf(mean_square) + v.eps))|'
says "cause: likely: eps outside the root"
finds "16-bit storage" 's|nl_x(row, i) / sqrtf|nl_round(v.t, nl_x(row, i)) / (1 + (v.t == NL_F16) * 0.01f) / sqrtf|'
finds "every narrow width" 's|mean_square /= v.c;|mean_square /= v.c + (v.c == 67);|'
finds "one row, no row, many rows" 's|nl_view row = nl_row(v, r);|if (r == 99) break; nl_view row = nl_row(v, r);|'
finds "residual, gaps between rows" 's|nl_x(row, i) \*|nl_load(v.t, row.x, i) *|'
says "cause: unknown: none of "
finds "residual, gaps between rows" 's|nl_row(v, r);|&row.rounds_sum = false;|'
finds "cast before the weight" 's|size_t r = 0;|size_t r = (v.cast_before_weight = false);|'
finds "in place" 's|mean_square + v.eps));$|(mean_square + (v.y == v.x)) + v.eps));|'
finds "arguments left out" 's|nl_x(row, i) / sqrtf|(v.gamma ? 1 : 2) * &|'
finds "offset and constant data" 's|mean_square /= v.c;|mean_square /= v.c; if (mean_square == 0) mean_square = 1;|'
finds "outliers, uneven sums" 's|mean_square /= v.c;|mean_square /= v.c; mean_square = fminf(mean_square, 1000);|'
finds "NaN and infinity" 's|mean_square /= v.c;|mean_square /= v.c; if (mean_square != mean_square) mean_square = 1;|'
finds "long rows" 's|mean_square /= v.c;|mean_square /= v.c - (v.c > 5000 ? 1000 : 0);|'
finds "three threads" 's|(void)threads;|if (threads > 2) return;|; s|\.lanes = |.threaded = true, .lanes = |'

exits "cases of one's own" 1 mistake.c 'rmsnorm/forward/f32/{3x7,5x7}/normal{,/threads=3}'
says "repeat: normlab try 'mistake.c' 'rmsnorm/forward/f32/3x7/normal/threads=3'"
exits "  that are right" 0 mistake.c rmsnorm/forward/f32/3x7/normal
prints "your cases"
prints "right on 1 case,"
reports "  that it does not take" 1 "nothing was compared" mistake.c layernorm/forward/f32/3x7/normal
refuses "  in no spelling" "'rmsnorm/forward' should be" mistake.c rmsnorm/forward

sed 's|;$||' "$rung" > broken.c
exits "a syntax error" 1 broken.c
says "broken.c:"
says "error: expected"
says "normlab try: broken.c: does not compile"
quiet
echo '#include "kernel.h"' > empty.c
reports "a file without NL_IMPL" 1 "does its file end with NL_IMPL" empty.c
sed 's|sqrtf(|my_sqrt(|; s|^NL_INLINE|float my_sqrt(float);\n&|' "$rung" > undefined.c
reports "a symbol that is nowhere" 1 "my_sqrt" undefined.c
sed 's|.lanes = 1|.lanes = 0|' "$rung" > lanes.c
reports "an impossible kernel" 1 "try/lanes: lanes is 0" lanes.c
cp "$rung" "my kernel (2).c"
answers "a name with spaces" 0 "try/my_kernel__2_@c" "my kernel (2).c" rmsnorm/forward/f32/3x7/normal
cp "$rung" @.c # to a compiler, @FILE is a file of options
answers "a name that begins with @" 0 "try/_@c" @.c rmsnorm/forward/f32/3x7/normal
long=a_name_that_is_longer_than_the_table_of_implementations_has_room_for
cp "$rung" $long.c
answers "a long name" 0 "try/${long:0:56}@c" $long.c rmsnorm/forward/f32/3x7/normal
check "  nothing is left" "$(ls -A tmp)"
for ending in 'exit 1' "exec '$quick' \"\$@\""; do # during a compilation that fails, or succeeds
    printf '#!/bin/sh\nkill -INT $PPID\n%s\n' "$ending" > stops && chmod +x stops
    CC=$work/stops reports "Ctrl-C, and $ending" 130 "normlab try: interrupted" "${fast[@]}" "$rung"
    check "  is all it says" "$(grep -v interrupted stderr)"
done
check "  nothing is left" "$(ls -A tmp)"
CC=no-such-compiler reports "no compiler" 1 "cannot run the compiler no-such-compiler" "$rung"
if type clang > /dev/null 2>&1; then
    CC=clang answers "another compiler" 0 "compiled by clang in" "$rung" rmsnorm/forward/f32/3x7/normal
fi
refuses "no file" "which FILE.c?"
refuses "a file that is not there" "cannot read none.c" none.c
touch mine.rs
refuses "a file of another language" "neither a .c nor a .so" mine.rs
${CC:-cc} -shared -fPIC '-DNL_NAME="mine/naive"' -I"$root/include" -I"$root/core" "$rung" -o mine.so
answers "a library" 0 "mine/naive@c: " mine.so rmsnorm/forward/f32/3x7/normal

# Tests --watch: the file is wrong, then right, then Ctrl-C.
sed 's|v.eps));$|1));|' "$rung" > watched.c
"$normlab" try --watch "${fast[@]}" watched.c > stdout 2> stderr &
watcher=$!
until_says() { for _ in {1..300}; do [ "$(grep -c waiting stderr)" -ge "$1" ] && return; sleep 0.1; done; }
until_says 1
prints "FAIL  a small case"
cp "$rung" new.c && mv new.c watched.c
until_says 2
prints "right on "
kill -INT $watcher
wait $watcher; code=$?
check "--watch ends with Ctrl-C" "$([ $code -eq 130 ] || echo "exit code $code")"

mkfifo pipe.c
refuses "a pipe" "cannot read pipe.c: it is not a file" pipe.c

summary
