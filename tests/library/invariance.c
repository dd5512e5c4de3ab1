/* A row's y and dx have the same bits whatever the batch: its size, the row's place, the threads, the
 * alignment, the neighbours and the stores. For nl_best(), and for each rung by itself.
 * SPDX-License-Identifier: MIT */
#include "trial.h"

#include <stdlib.h>

TestSuite(invariance, .init = fork_always);

enum { ELEMENTS = 1 << 17, SLACK = 64 };

/* The buffers of a call. */
typedef struct tensors {
    char *x, *residual, *dy, *y;
    float *mean, *rstd;
} tensors;

static char *room(void) {
    return aligned_alloc(64, (size_t)ELEMENTS * 4 + 4096);
}

static tensors make(void) {
    return (tensors){room(), room(), room(), room(), (float *)room(), (float *)room()};
}

static void release(tensors t) {
    free(t.x), free(t.residual), free(t.dy), free(t.y), free(t.mean), free(t.rstd);
}

static float gamma_of[1 << 15], beta_of[1 << 15];

static nl_status call(const nl_impl *impl, const nl_problem *p, tensors t, bool residual,
                      int threads) {
    return call_with(impl, p, threads,
                     (void *[NL_ARGS]){[NL_X] = t.x,
                                       [NL_RESIDUAL] = residual ? t.residual : NULL,
                                       [NL_DY] = t.dy,
                                       [NL_GAMMA] = gamma_of,
                                       [NL_BETA] = beta_of,
                                       [NL_MEAN] = t.mean,
                                       [NL_RSTD] = t.rstd,
                                       [NL_Y] = t.y,
                                       [NL_DX] = t.y});
}

static void fill(nl_problem p, tensors t, uint64_t seed) {
    for (size_t i = 0; i < p.n * p.c; i++) {
        nl_store(p.dtype, t.x, i, (float)random_normal(100 + seed, i) + 3);
        nl_store(p.dtype, t.residual, i, (float)random_normal(200 + seed, i));
        nl_store(p.dtype, t.dy, i, (float)random_normal(300 + seed, i));
    }
    for (size_t j = 0; j < p.c; j++)
        gamma_of[j] = 1 + (float)random_uniform(1, j), beta_of[j] = (float)random_normal(2, j);
    for (size_t r = 0; r < p.n; r++) t.mean[r] = 3, t.rstd[r] = 0.5f + 0.01f * (float)(r % 90);
}

/* Rows [r, r + n) of a batch, moved by some elements. */
static tensors rows_of(nl_problem p, tensors from, tensors to, size_t r, size_t n, size_t skew) {
    const size_t size = nl_dtype_size(p.dtype), bytes = n * p.c * size, at = r * p.c * size;
    to.x += skew * size, to.residual += (skew + 1) * size, to.dy += 2 * skew * size;
    to.y += (SLACK - skew) * size;
    memcpy(to.x, from.x + at, bytes), memcpy(to.residual, from.residual + at, bytes);
    memcpy(to.dy, from.dy + at, bytes);
    memcpy(to.mean, from.mean + r, n * sizeof *to.mean);
    memcpy(to.rstd, from.rstd + r, n * sizeof *to.rstd);
    return to;
}

/* Computes some rows of a batch alone or with fewer neighbours, in several ways. */
static void check_batch(uint64_t i, const nl_impl *impl, tensors all, tensors some) {
    static const nl_op ops[] = {NL_LAYERNORM, NL_RMSNORM, NL_QWEN2_RMSNORM};
    nl_problem p = {.op = ops[below(3, 3, i)], .s = 1, .eps = 1e-5f};
    p.pass = below(2, 4, i) ? NL_BACKWARD : NL_FORWARD;
    p.dtype = (nl_dtype)below(NL_DTYPES, 5, i);
    p.c = below(4, 6, i) ? 1 + below(600, 7, i) : 64 * (1 + below(80, 8, i));
    p.n = 1 + below(ELEMENTS / p.c < 300 ? ELEMENTS / p.c : 300, 9, i);
    if (impl && !computes(impl, &p)) return;
    const bool residual = below(3, 10, i) == 0;
    const size_t bytes = p.c * nl_dtype_size(p.dtype);
    fill(p, all, i % 7);
    p.stores = (nl_stores)below(3, 11, i);
    const tensors given = all;
    cr_assert(call(impl, &p, all, residual, 1 + (int)below(3, 12, i)) == NL_OK, "%s", nl_message());
    for (uint64_t k = 0; k < 4; k++) {
        const uint64_t turn = 4 * i + k;
        const size_t n = 1 + (k ? below(p.n < 20 ? p.n : 20, 13, turn) : 0);
        const size_t r = below(p.n - n + 1, 14, turn);
        nl_problem q = p;
        q.n = n, q.stores = (nl_stores)below(3, 15, turn);
        const int threads = 1 + (int)below(3, 16, turn);
        const tensors t = rows_of(p, given, some, r, n, below(16, 17, turn));
        cr_assert(call(impl, &q, t, residual, threads) == NL_OK, "%s", nl_message());
        if (memcmp(t.y, all.y + r * bytes, n * bytes) != 0)
            cr_assert_fail("%s%s, %s: rows %zu to %zu have other bits alone, on %d threads, "
                           "stores %d and %d",
                           spelled(&p), residual ? "/residual" : "",
                           impl ? impl->name : "nl_best()", r, r + n - 1, threads, (int)p.stores,
                           (int)q.stores);
    }
}

/* Low thresholds: some batches are shared among threads and streamed, and the rows taken out of
 * them are not. */
static const nl_tuning low = {1 << 15, 1 << 15, 1 << 15, 1 << 14, 1 << 14, 1 << 14};

Test(invariance, of_what_is_chosen) {
    const tensors all = make(), some = make();
    nl_tuning_use(&low);
    for (uint64_t i = 0; i < 400; i++) check_batch(i, NULL, all, some);
    release(all), release(some);
}

Test(invariance, of_each_rung) {
    const tensors all = make(), some = make();
    nl_tuning_use(&low);
    for (size_t m = 0; m < nl_impl_count(); m++)
        for (uint64_t i = 1000; i < 1024; i++) check_batch(i + 32 * m, nl_impl_at(m), all, some);
    release(all), release(some);
}
