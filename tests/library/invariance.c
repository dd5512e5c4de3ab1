/* A row's y and dx have the same bits whatever the batch: its size, the row's place, the threads,
 * the alignment, the neighbours and the stores. This holds for nl_best(), and for each rung by
 * itself. SPDX-License-Identifier: MIT */
#include "trial.h"

#include <stdlib.h>

TestSuite(invariance, .init = fork_always);

enum { ELEMENTS = 1 << 17, SLACK = 64 };

typedef struct tensors {
    char *x, *residual, *dy, *y, *sum;
    float *mean, *rstd, *gamma, *beta;
} tensors;

static float gains[1 << 15], shifts[1 << 15], ones[1 << 15], zeros[1 << 15];

static char *room(void) {
    return aligned_alloc(64, (size_t)ELEMENTS * 4 + 4096);
}

static tensors make(void) {
    return (tensors){room(),          room(),          room(), room(), room(),
                     (float *)room(), (float *)room(), gains,  shifts};
}

static void release(tensors t) {
    free(t.x), free(t.residual), free(t.dy), free(t.y), free(t.sum);
    free(t.mean), free(t.rstd);
}

static nl_status call(const nl_impl *impl, const nl_problem *p, tensors t, bool residual,
                      int threads) {
    return call_with(impl, p, threads,
                     (void *[NL_ARGS]){[NL_X] = t.x,
                                       [NL_RESIDUAL] = residual ? t.residual : NULL,
                                       [NL_DY] = t.dy,
                                       [NL_GAMMA] = t.gamma,
                                       [NL_BETA] = t.beta,
                                       [NL_MEAN] = t.mean,
                                       [NL_RSTD] = t.rstd,
                                       [NL_Y] = t.y,
                                       [NL_RESIDUAL_OUT] = residual ? t.sum : NULL,
                                       [NL_DX] = t.y});
}

static void fill(nl_problem p, tensors t, uint64_t seed) {
    for (size_t i = 0; i < p.n * p.c; i++) {
        nl_store(p.dtype, t.x, i, (float)random_normal(100 + seed, i) + 3);
        nl_store(p.dtype, t.residual, i, (float)random_normal(200 + seed, i));
        nl_store(p.dtype, t.dy, i, (float)random_normal(300 + seed, i));
    }
    for (size_t j = 0; j < p.c; j++)
        gains[j] = (j % 3 ? 1 : -1) * (1 + (float)random_uniform(1, j)),
        shifts[j] = (float)random_normal(2, j);
    for (size_t r = 0; r < p.n; r++) t.mean[r] = 3, t.rstd[r] = 0.5f + 0.01f * (float)(r % 90);
}

/* Copies rows [r, r + n) of a batch to `to`, at addresses moved by `skew` elements. */
static tensors rows_of(nl_problem p, tensors from, tensors to, size_t r, size_t n, size_t skew) {
    const size_t size = nl_dtype_size(p.dtype), bytes = n * p.c * size, at = r * p.c * size;
    to.x += skew * size, to.residual += (skew + 1) * size, to.dy += 2 * skew * size;
    to.y += (SLACK - skew) * size, to.sum += skew * size;
    to.gamma = from.gamma, to.beta = from.beta;
    memcpy(to.x, from.x + at, bytes), memcpy(to.residual, from.residual + at, bytes);
    memcpy(to.dy, from.dy + at, bytes);
    memcpy(to.mean, from.mean + r, n * sizeof *to.mean);
    memcpy(to.rstd, from.rstd + r, n * sizeof *to.rstd);
    return to;
}

static nl_problem draw(uint64_t i) {
    static const nl_op ops[] = {NL_LAYERNORM, NL_RMSNORM, NL_QWEN2_RMSNORM};
    nl_problem p = {.op = ops[below(3, 3, i)], .s = 1, .eps = 1e-5f};
    p.pass = below(2, 4, i) ? NL_BACKWARD : NL_FORWARD;
    p.dtype = (nl_dtype)below(NL_DTYPES, 5, i);
    p.c = below(4, 6, i) ? 1 + below(600, 7, i) : 64 * (1 + below(80, 8, i));
    p.n = 1 + below(ELEMENTS / p.c < 300 ? ELEMENTS / p.c : 300, 9, i);
    if (p.pass == NL_FORWARD && below(3, 18, i) == 0) p.casting = NL_CAST_BEFORE_WEIGHT;
    if (below(2, 19, i)) p.sum = NL_SUM_ROUNDED;
    return p;
}

/* Computes some rows of a batch one by one or in smaller batches, in several ways. */
static void check_batch(uint64_t i, const nl_impl *impl, tensors all, tensors some) {
    nl_problem p = draw(i);
    if (impl && !computes(impl, &p)) return;
    const bool residual = below(3, 10, i) == 0;
    const size_t bytes = p.c * nl_dtype_size(p.dtype);
    fill(p, all, i % 7);
    p.stores = (nl_stores)below(NL_STORES_IN_PLACE + 1, 11, i);
    if (below(4, 20, i) == 0) all.gamma = NULL;
    if (below(4, 21, i) == 0) all.beta = NULL;
    const tensors given = all;
    cr_assert(call(impl, &p, all, residual, 1 + (int)below(3, 12, i)) == NL_OK, "%s", nl_message());
    for (uint64_t k = 0; k < 4; k++) {
        const uint64_t turn = 4 * i + k;
        const size_t n = 1 + (k ? below(p.n < 20 ? p.n : 20, 13, turn) : 0);
        const size_t r = below(p.n - n + 1, 14, turn);
        nl_problem q = p;
        q.n = n, q.stores = (nl_stores)below(NL_STORES_IN_PLACE + 1, 15, turn);
        const int threads = 1 + (int)below(3, 16, turn);
        const tensors t = rows_of(p, given, some, r, n, below(16, 17, turn));
        cr_assert(call(impl, &q, t, residual, threads) == NL_OK, "%s", nl_message());
        const bool sum = residual && p.pass == NL_FORWARD;
        if (memcmp(t.y, all.y + r * bytes, n * bytes) != 0 ||
            (sum && memcmp(t.sum, all.sum + r * bytes, n * bytes) != 0))
            cr_assert_fail("%s%s, %s: rows %zu to %zu have other bits alone, on %d threads, "
                           "stores %d and %d",
                           spelled(&p), residual ? "/residual" : "",
                           impl ? impl->name : "nl_best()", r, r + n - 1, threads, (int)p.stores,
                           (int)q.stores);
    }
}

/* Thresholds are low, so that some batches run on several threads with streaming stores, while a
 * single row of these batches does not. */
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

/* A missing gain is 1, and a missing beta changes not even the sign of a zero. */
Test(invariance, of_missing_parameters) {
    const tensors given = make(), other = make();
    for (size_t j = 0; j < sizeof ones / sizeof *ones; j++) ones[j] = 1, zeros[j] = -0.0f;
    for (uint64_t i = 0; i < 400; i++) {
        nl_problem p = draw(i);
        p.pass = NL_FORWARD;
        const bool residual = below(3, 10, i) == 0, gain = below(2, 11, i), shift = below(2, 12, i);
        const bool plus_one = p.op == NL_QWEN2_RMSNORM;
        const size_t bytes = p.n * p.c * nl_dtype_size(p.dtype);
        fill(p, given, i % 7);
        for (size_t r = 0; r < p.n; r++) /* a zero of either sign in some rows */
            if (below(2, 22, i + r)) memset(given.x + r * (bytes / p.n), 0, bytes / p.n);
        tensors t = given, full = given;
        full.y = other.y, full.sum = other.sum;
        if (!gain) t.gamma = NULL, full.gamma = plus_one ? zeros : ones;
        if (!shift) t.beta = NULL, full.beta = zeros;
        const int threads = 1 + (int)below(2, 13, i);
        cr_assert(!call(NULL, &p, t, residual, threads) && !call(NULL, &p, full, residual, threads),
                  "%s", nl_message());
        if (memcmp(t.y, full.y, bytes) != 0)
            cr_assert_fail("%s%s, on %d threads: the bits change without%s%s", spelled(&p),
                           residual ? "/residual" : "", threads, gain ? "" : " gamma",
                           shift ? "" : " beta");
    }
    release(given), release(other);
}
