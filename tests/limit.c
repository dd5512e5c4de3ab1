/* The movers must move every byte and touch no other, with every store, on any number of threads.
 * SPDX-License-Identifier: MIT */
#include "timing/limit.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 70000, GUARD = 256 };

static float a[MAX / 4], b[MAX / 4], c[MAX / 4], b_and_c[MAX / 4];
static _Alignas(64) char y[MAX + GUARD], z[MAX + GUARD];

static bool untouched(const char *from) {
    for (int i = 0; i < GUARD; i++)
        if (from[i] != 0x55) return false;
    return true;
}

/* Does out hold x, or x + plus unless plus is NULL? In the rest behind the last whole block the
 * movers copy x without adding. */
static bool holds(const char *out, const float *x, const float *plus, size_t bytes) {
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        float got, sum = x[i / 4] + (plus ? plus[i / 4] : 0);
        memcpy(&got, out + i, 4);
        bool rest = plus && i >= bytes - bytes % 2048 && got == x[i / 4];
        if (got != sum && !rest) return false;
    }
    return true;
}

static void move(int reads, int writes, limit_store store, size_t bytes, int threads) {
    limit_job j = {.in = {reads > 0 ? a : NULL, reads > 1 ? b : NULL, reads > 2 ? c : NULL},
                   .out = {writes > 0 ? y : NULL, writes > 1 ? z : NULL},
                   .reads = reads,
                   .writes = writes,
                   .bytes = bytes,
                   .store = store};
    memset(y, 0x55, sizeof y);
    memset(z, 0x55, sizeof z);
    limit_move(&j, threads);
}

Test(limit, moves_what_it_says) {
    static const size_t sizes[] = {0, 4, 60, 64, 252, 2048, 4100, 65536, 69996};
    for (size_t i = 0; i < MAX / 4; i++) {
        a[i] = (float)(i + 1), b[i] = (float)(2 * i + 3), c[i] = (float)(3 * i + 7);
        b_and_c[i] = b[i] + c[i];
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (limit_store store = LIMIT_ORDINARY; store <= LIMIT_STREAM_AHEAD; store++) {
            size_t n = sizes[s];
            move(1, 1, store, n, 1);
            cr_expect(holds(y, a, NULL, n) && untouched(y + n), "copy of %zu, store %d", n, store);
            move(2, 1, store, n, 1);
            cr_expect(holds(y, a, b, n) && untouched(y + n), "2 + 1 of %zu, store %d", n, store);
            move(3, 1, store, n, 1);
            cr_expect(holds(y, a, b_and_c, n) && untouched(y + n), "3 + 1 of %zu, store %d", n,
                      store);
            move(2, 2, store, n, 1);
            cr_expect(holds(y, a, NULL, n) && holds(z, b, NULL, n) && untouched(y + n) &&
                          untouched(z + n),
                      "2 + 2 of %zu, store %d", n, store);
            move(0, 1, store, n, 1);
            bool written = untouched(y + n);
            for (size_t i = 0; i < n; i++) written = written && y[i] != 0x55;
            cr_expect(written, "write of %zu, store %d", n, store);
            for (int threads = 2; threads <= 3; threads++) {
                move(1, 1, store, n, threads);
                cr_expect(holds(y, a, NULL, n) && untouched(y + n), "%d threads, copy of %zu",
                          threads, n);
            }
        }
}
