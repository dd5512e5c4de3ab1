/* A thread computes after the call has returned.
 * SPDX-License-Identifier: MIT */
// expect: hint it calls pthread_create, which a graded kernel must not
#include "kernel.h"

#include <pthread.h>

static nl_problem problem;
static nl_forward_args arguments;
static void work(void);

static void *later(void *context) {
    work();
    return context;
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

static void work(void) {
    nl_with_type(&problem, &arguments, rmsnorm);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    pthread_t thread;
    problem = *p, arguments = *a;
    pthread_create(&thread, NULL, later, NULL);
}

NL_IMPL(.about = "a cheat", .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .rank = 0, .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
