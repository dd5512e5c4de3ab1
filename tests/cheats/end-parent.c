/* Ends the process that writes the points.
 * SPDX-License-Identifier: MIT */
// needs: seccomp
// expect: hint called kill()
#include "kernel.h"

#include <sys/syscall.h>

/* Past the C library, whose functions are refused by name. */
static long raw(long number, long a, long b, long c) {
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);
        float sum = 0;
        for (size_t i = 0; i < v.c; i++) sum += nl_x(row, i) * nl_x(row, i);
        const float rstd = 1 / sqrtf(sum / v.c + v.eps);
        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, nl_x(row, i) * rstd);
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    static int calls;
    if (++calls == 15) raw(SYS_kill, raw(SYS_getppid, 0, 0, 0), 9, 0);
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "a cheat", .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
