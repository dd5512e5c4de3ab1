/* Brings rungs of its own, slow ones, of a wider instruction set than the one it is compared with.
 * SPDX-License-Identifier: MIT */
// expect: hint it has 2 kernels, and one is graded
#define normlab_kernel only_kernel
#include "kernel.h"
#undef normlab_kernel

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
    nl_with_type(p, a, rmsnorm);
}

static void slow(const nl_problem *p, const nl_forward_args *a, int threads) {
    for (int i = 0; i < 40; i++) forward(p, a, threads);
}

#define REST                                                                     \
    .about = "a cheat", .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD), \
    .dtypes = NL_ALL_DTYPES, .method = NL_TWO_PASS, .lanes = 1

#if defined(__x86_64__)
#define WIDER "sse2"
#else
#define WIDER "neon"
#endif

const nl_impl *normlab_kernel(size_t i) {
    static const nl_impl all[] = {{.name = NL_NAME, .isa = "c", REST, .forward = forward},
                                  {.name = "rmsnorm/naive", .isa = WIDER, REST, .forward = slow}};
    return i < 2 ? &all[i] : NULL;
}

NL_IMPL(REST, .forward = forward);
