/* Declares the method that is asked for, and a weaker one once it is loaded.
 * SPDX-License-Identifier: MIT */
// expect: hint off by
#define normlab_kernel only_kernel
#include "kernel.h"
#undef normlab_kernel

NL_INLINE void layernorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);
        float sum = 0, squares = 0;
        for (size_t i = 0; i < v.c; i++) sum += nl_x(row, i);
        const float mean = sum / v.c;
        for (size_t i = 0; i < v.c; i++) squares += (nl_x(row, i) - mean) * (nl_x(row, i) - mean);
        const float rstd = 1 / sqrtf(squares / v.c + v.eps);
        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, (nl_x(row, i) - mean) * rstd);
        nl_keep(row, mean, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, layernorm);
}

static size_t scratch(const nl_problem *p);

#define ALL                                                                        \
    .about = "a cheat", .ops = NL_BIT(NL_LAYERNORM), .passes = NL_BIT(NL_FORWARD), \
    .dtypes = NL_ALL_DTYPES, .method = NL_REFINED, .lanes = 1, .forward = forward, \
    .scratch = scratch

static nl_impl changing = {.name = NL_NAME, .isa = "c", ALL};

static size_t scratch(const nl_problem *p) {
    (void)p;
    changing.method = NL_TWO_PASS;
    return 0;
}

const nl_impl *normlab_kernel(size_t i) {
    return i == 0 ? &changing : NULL;
}

NL_IMPL(ALL);
