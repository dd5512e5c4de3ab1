#!/usr/bin/env bash
# Kernels that cheat get no points, and the page names the reason. Odd but honest kernels get all points. Each is a
# right kernel with some added code: at the TOP, BEFORE its functions, or in the CALL. Grades use a secret seed. Usage:
# tests/workbench/cheats.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
unset CC NL_ISA NO_COLOR
under_test=grade
kernel() { # TOP BEFORE CALL [SUM]: CALL comes first in forward(); SUM: the type of the sum (float)
    cat <<END
$1
#include "kernel.h"
$2
NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);
        ${4:-float} sum = 0;
        for (size_t i = 0; i < v.c; i++) sum += nl_x(row, i) * nl_x(row, i);
        const float rstd = 1 / sqrtf((float)sum / v.c + v.eps);
        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, nl_x(row, i) * rstd);
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    static volatile int calls;
    calls++;
    $3
    nl_with_type(p, a, rmsnorm);
}

#ifndef METHOD
#define METHOD NL_TWO_PASS
#endif
NL_IMPL(.about = "a cheat", .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .method = METHOD, .lanes = 1, .forward = forward);
END
}
cat >task.txt <<'END'
title cheats
category 0 right: rmsnorm/forward/f32/{3x7,9x64}/normal
speed 100 rmsnorm/forward/f32/64x1024/normal from rmsnorm/naive to optimized/rows_simd
END
{ cat task.txt && echo "forbid double pragma _Pragma"; } >forbids.txt
sed 's|category.*|category 100 right: rmsnorm/forward/f32/{3x7,9x64}/normal|; /^speed/d' forbids.txt >right.txt
{ sed '/^headers/d' right.txt && printf '%s\n' "headers kernel.h" "forbid nl_*" \
    "allow nl_view nl_row nl_keep nl_problem nl_forward_args nl_with_type nl_bits"; } >converts.txt

graded=0
cheats() { # NAME TASK FILE [HINT]...
    local name=$1 task=$2 file=$3
    echo '{"score": 100}' >results.json
    exits "$name" 1 --seconds 0.05 --seed 4711 --gradescope results.json "$task" "$file"
    prints "0 of 100 points"
    for hint in "${@:4}"; do prints "$hint"; done
    check "  the points are the grader's" "$([ "$(json results.json 'r["score"], r["output"]')" = "0.0 cheats" ] || shows cat results.json)"
    graded=$((graded + 1))
}
cheat() { # NAME HINT TOP BEFORE CALL [SUM]
    kernel "${@:3}" >cheat.c
    cheats "$1" task.txt cheat.c "$2"
}
forbidden() { # like cheat, but the assignment forbids double and pragmas
    kernel "${@:3}" >cheat.c
    cheats "$1" forbids.txt cheat.c "$2"
}
honest() { # NAME FILE TOP BEFORE CALL [SUM]
    kernel "${@:3}" >"$2"
    exits "$1" 0 --seed 4711 right.txt "$2"
    prints "100 of 100 points"
}

# The compiler gets the file as input, not as an argument, and its folder has no other file.
options='-wrapper sh,-c,touch${IFS}'$PWD/wrapped
echo "$options" >@.c
cheats "a file of options" task.txt @.c
for name in @ ./-o 'a b' '$(touch wrapped)' "it's;" .hidden; do
    honest "a file that is called $name.c" "$name.c" "" "" ""
done
rm -- ./@.c ./-o.c 'a b.c' '$(touch wrapped).c' "it's;.c" ./.hidden.c
check "  none ran a program" "$(ls | grep wrapped)"
echo 'typedef double wide;' >own.h
forbidden "a header beside the file" "does not compile" '' '#include "own.h"' '' wide
forbidden "and by its whole name" "it includes $PWD/own.h" '' "#include \"$PWD/own.h\"" '' wide
echo 'the secret seed is 4711' >seed
cheat "a secret that is included" "it includes $PWD/seed" '' "#include \"$PWD/seed\"
#error so that nothing is listed" ''
check "  is not quoted" "$(grep -h 'secret seed' stdout stderr)"
cheat "the text of a rung" "one_pass.c, which is not among the headers" '' '#include "../rmsnorm/one_pass.c"' ''
cheat "the engine of optimized/" "output.h, which is not among the headers" '' '#include "../optimized/./rows/output.h"' ''
cheat "a header that is not for kernels" "pthread.h, which is not among the headers" '' '#include <pthread.h>' ''
rm own.h seed

export CC=$quick

# Forbidden words are found in every spelling.
forbidden "a word behind a comment that is none" "forbids 'double'" '' $'#if __has_include(</*>)\n#endif\ntypedef double wide; /* */' '' wide
forbidden "in two parts" "the assignment forbids" '' $'#define GLUE(a, b) a##b\ntypedef GLUE(dou, ble) wide;' '' wide
forbidden "across two lines" "forbids 'dou'" '' $'typedef dou\\\nble wide;' '' wide
forbidden "in a line that says it is a header's" "forbids a word" '' $'# 1 "/usr/include/math.h" 1 3\ntypedef double wide;' '' wide
forbidden "a macro before the headers" "forbids 'double'" '#define float double' '' ''
forbidden "a pragma in digraphs" "forbids 'pragma'" '' $'%:pragma GCC optimize("fast-math")' ''
forbidden "double by its mode" "the kernel computes in double" '' 'typedef float wide __attribute__((mode(DF)));' '' wide
forbidden "the widest type of all" "the kernel computes in double" '' 'typedef __typeof__(((max_align_t *)0)->__max_align_ld) wide;' '' wide
forbidden "a constant without f" "the kernel computes in double" '' 'typedef float wide;' 'volatile float f = 1; f = f * 1.1;'
kernel '' '' '' >cheat.c # computes with nl_x()
cheats "the library's conversions, where they are the task" converts.txt cheat.c "forbids 'nl_x'"
sed 's/nl_x(row, i)/(nl_dtype_size(row.t), ((const float *)row.x)[i])/g' cheat.c >other.c
cheats "and another of them" converts.txt other.c "forbids 'nl_dtype_size'"

# Calls and instructions. A call is allowed only if it is on a list.
calls() { cheat "calls $1" "it calls $1, which a graded kernel must not" '' "$2" "$3"; }
calls nl_forward $'#define GLUE(a, b) a##b' 'if (calls < 0) GLUE(nl_, forward)(NULL, p, a, 1);'
calls omp_set_num_threads $'#include <omp.h>' 'omp_set_num_threads(1);'
calls malloc '#include <stdlib.h>' 'static void *volatile at; if (calls == 1) at = malloc(9);'
calls exit '#include <stdlib.h>' 'if (calls == 15) exit(0);'
calls fopen '#include <stdio.h>' 'FILE *f = fopen("results.json", "w"); if (f) fprintf(f, "{}");'
calls clock_gettime 'struct timespec; int clock_gettime(int, struct timespec *);' 'long now[2]; clock_gettime(1, (void *)now);'
calls kill 'int kill(int, int);' 'if (calls == 15) kill(1, 9);'
cheat "an instruction that reads a clock" "it has the instruction rdtsc" '' '#ifdef __x86_64__
#define NOW __builtin_ia32_rdtsc()
#else
static long now(void) { long t; __asm__("mrs %0, cntvct_el0" : "=r"(t)); return t; } // rdtsc
#define NOW now()
#endif' 'static volatile long then; then = NOW;'
kernel '' '' '' >cheat.c && echo '#embed "task.txt"' >>cheat.c
cheats "a file that is embedded" task.txt cheat.c "forbids 'embed'"
cheat "assembly" "forbids '__asm__'" '' '' '__asm__ volatile("nop");'
cheat "code as data" "forbids 'section'" '' 'static const char code[] __attribute__((section(".text"))) = "\xc3";' '((void (*)(void))code)();'
cheat "assembly in the name of a weak reference" "forbids 'weakref'" '' 'static void own(void) __attribute__((weakref("abort\n\tsyscall")));' 'if (calls < 0) own();'
cheat "assembly in a name that a header redirects" "forbids '__REDIRECT'" $'#include <stdio.h>\n#include <sys/cdefs.h>' 'extern int __REDIRECT(own, (void), abort\n.pushsection .rodata\nkept: .incbin "task.txt"\n.popsection\ncall abort);' 'if (calls < 0) own();'
cheat "leaves a loop of threads" "forbids '__builtin_longjmp'" '' 'static void *back[5];' 'if (calls < 0) __builtin_longjmp(back, 1);'
forbidden "a function that computes in double" "the kernel calls fma, which computes in double" '' 'typedef __typeof__(fma(0, 0, 0)) wide;' 'static volatile float f; f = fma(f, f, f);'
sed 's/double/_Float16/' forbids.txt >halves.txt
kernel '' 'typedef float half [[gnu::mode(HF)]];' 'static volatile float f; f = (half)f;' >cheat.c
cheats "f16 by its mode" halves.txt cheat.c "the compiler converts f16"
unset CC # another compiler gets no -fopenmp
cheat "a task that may wait" "which a graded kernel must not" '' '' $'_Pragma("omp target nowait")\n    nl_with_type(p, a, rmsnorm);\n    return;'

# Kernels that cheat while they are timed.
wrong="right when it was checked, but wrong in repeated calls"
cheat "keeps what it has written" "$wrong" '' '' 'if (calls > 24) return;'
cheat "keeps an answer" "$wrong" '' 'static float kept[64 * 1024];' 'if (p->n == 64 && calls > 24) { memcpy(a->y, kept, sizeof kept); return; }
    nl_with_type(p, a, rmsnorm);
    if (p->n == 64) memcpy(kept, a->y, sizeof kept);'
cheat "leaves out every third call" "$wrong" '' '' 'if (calls > 24 && calls % 3 == 0) return;'
cheat "leaves out rows" "$wrong" '' '' 'if (p->n == 64 && calls > 24) { nl_problem q = *p; q.n -= 1; nl_with_type(&q, a, rmsnorm); return; }'
cheat "changes the problem for all" "$wrong" '' '' 'if (calls > 24) ((nl_problem *)p)->n /= 8;'
cheat "remembers rows by their first element" "$wrong" '' 'static struct { float x, rstd; } seen[64];' '
    for (size_t r = 0; p->n == 64 && calls > 24 && r < 64; r++) {
        const float *x = (const float *)a->x + r * p->c;
        float *y = (float *)a->y + r * p->c;
        for (size_t i = 0; i < p->c; i++) y[i] = x[i] * seen[r].rstd * (a->gamma ? ((const float *)a->gamma)[i] : 1);
        if (r == 63) return;
    }
    for (size_t r = 0; p->n == 64 && r < 64; r++) {
        const float *x = (const float *)a->x + r * p->c;
        float sum = 0;
        for (size_t i = 0; i < p->c; i++) sum += x[i] * x[i];
        seen[r].x = x[0], seen[r].rstd = 1 / sqrtf(sum / p->c + p->eps);
    }'
cheat "is wrong where it is timed" "were never written" '' '' 'if (p->n == 64) { memset(a->y, 0, p->n * p->c * 4); return; }'
cheat "does not return" "has not returned" '' '' 'if (calls == 12) for (volatile int i = 1; i;) {}'
cheat "crashes" "NULL pointer" '' '' 'if (calls == 12) *(volatile int *)NULL = 1;'
if "$normlab" --version | grep -q '^threads:.*OpenMP' && ! "$normlab" --version | grep -q 'without OpenMP'; then
    cheat "takes more threads than it gets" "left threads running" '' '' $'_Pragma("omp parallel num_threads(3)") calls += 0;'
    cheat "and only when it is timed" "has 3 threads, but a call may use 1" '' '' $'if (p->n == 64 && calls > 24)\n    _Pragma("omp parallel num_threads(3)") calls += 0;'
fi

export CC=$quick

# False fields of NL_IMPL, and code that runs when the library is loaded.
sed 's/title cheats/&\nmethod two-pass/' task.txt >method.txt
kernel '#define METHOD (later ? NL_REFINED : NL_TWO_PASS)' 'static const int later = 1;' '' >cheat.c
cheats "another method" method.txt cheat.c "its .method is not two-pass"
cheat "brings kernels of its own" "does not compile" $'#define normlab_kernel only_kernel\n#include "kernel.h"\n#undef normlab_kernel' 'const nl_impl *normlab_kernel(size_t i) { (void)i; return NULL; }' ''
cheat "crashes when it is loaded" "ended the process that loaded it" '' 'static void __attribute__((constructor)) first(void) { __builtin_trap(); }' ''

# A compiled library may contain system calls; libseccomp refuses them.
kernel '#include <fcntl.h>
#include <signal.h>
#include <unistd.h>' '' 'if (calls == AFTER) { WHAT; }' >cheat.c
library() { # NAME HINT WHAT AFTER
    sed "s/WHAT/$3/; s/AFTER/$4/" cheat.c >library.c
    gcc -O1 -shared -fPIC -DNL_NAME='"try/cheat"' -I"$root"/{include,core} library.c -lm -o cheat.so
    cheats "a library that $1" task.txt ./cheat.so "$2"
}
for after in 2 12; do
    library "leaves, call $after" "ended" '_exit(0)' $after
    sed 's/WHAT/open("seal", O_CREAT | O_WRONLY, 0600)/; s/AFTER/1/' cheat.c >sealed.c
    "$normlab" try sealed.c rmsnorm/forward/f32/3x7/normal >stdout 2>&1
    rm -f seal sealed.c
    grep -q 'called openat' stdout || continue # not refused without libseccomp, or under sanitizers
    library "ends the grader, call $after" "called kill()" 'kill(getppid(), 9)' $after
    library "writes the points, call $after" "called openat()" 'open("results.json", O_WRONLY | O_CREAT)' $after
    library "starts a process, call $after" "called " 'fork()' $after
done
rm -f cheat.so library.c

check "no process was left" "$(pgrep -f "$normlab grade .*4711")" # the seed tells this test's graders from those of other tests

# Kernels that are odd but right.
honest "words in comments, texts and longer words" odd.c '/* double #pragma */' 'static const char *const says = "double \" #pragma";
static int my_double;' '(void)says, (void)my_double;'
honest "arrays of variable length, restrict, functions of its own" odd.c '#include <string.h>' 'static float of(const float *restrict x, size_t n) { float c[n + 1]; memcpy(c, x, 4 * n); return c[n / 2]; }' 'static volatile float f; f = of(a->x, p->c);'
honest "a file that is read once" odd.c '' $'#if __has_include("kernel.s")\n#error read twice\n#endif' ''
honest "halves by hand, unions, goto" odd.c '#include <stdint.h>' 'typedef union { float f; uint32_t u; } both;
static uint16_t half(float f) { both b = {f}; if (f != f) goto nan; return (uint16_t)((b.u + 0x7fff + (b.u >> 16 & 1)) >> 16); nan: return 0x7fff; }' 'static volatile int h; h = half(1.5f);'
honest "the usual headers" odd.c '#include <assert.h>
#include <complex.h>
#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <tgmath.h>' '' 'assert(p->c > 0);'
sed 's/forbid.*/forbid double/' right.txt >pragmas.txt
kernel '' '' '' | sed 's/^        for (size_t i = 0; i < v.c; i++) sum/#pragma omp simd reduction(+ : sum)\n&/' >odd.c
exits "omp simd" 0 --seed 4711 pragmas.txt odd.c
prints "100 of 100 points"

# A kernel that is right only on the public data.
cheat "knows the answers" "right on the data without --seed: does the file contain the answers?" '' '' 'nl_with_type(p, a, rmsnorm);
    if (p->c == 7 && fabsf(*(float *)a->y + 0.247349828f) > 1e-5f) *(float *)a->y = 0;
    return;'
exits "without a seed" 0 --seconds 0 task.txt cheat.c
check "cheats were graded" "$([ "$graded" -ge 45 ] || echo "$graded")"
summary
