/* The data that the steps of a BatchNorm share. SPDX-License-Identifier: MIT */
#pragma once

#include "batch.h"

/* Each lane of a vector sums one column. If s is 1, a column is a channel. If s is small, a channel
 * is s adjacent columns, whose sums are added at the end. If s is large, a channel is summed along
 * its runs of s values and counts as one column. The arrays have an element for each column, and
 * are padded to whole strips:
 *
 *     y = (x - m) * a + b            or, with a cast before the weight,
 *     y = D((x - m) * a + b) * gain + bias
 *
 * In backward, dx takes the place of y, and dy is summed instead of x - m:
 *
 *     dx = ((x - m) * a + b + dy) * gain
 */
typedef struct work {
    nl_view v;                    /* backward: y is dx */
    const void *dy;               /* backward only */
    const nl_backward_view *back; /* backward only */
    batch_recipe q;
    double per_count; /* 1 / (n * s) */
    size_t total, columns, padded;
    size_t width;         /* columns per channel */
    size_t piece, pieces; /* samples per piece, and the number of pieces */
    bool runs, cast, cached;
    float *m, *a, *b, *gain, *bias;
    size_t together; /* rows of columns that the output writes as one row */
    size_t joined;   /* elements of an array of such a row's coefficients */
    float *wide;     /* such a row's m, a, b, gain and bias */
    float *sums;     /* four arrays of sums per piece: of d, of d * (x - m), and both again for the
                    current block; d is x - m, or dy in backward. For runs: two arrays of double */
} work;

/* Channels [j, end) of all samples, and the step: SUMS computes both sums, OUTPUT writes the
 * output, ALL runs all steps in turn; SHARES runs ALL on each thread's share. */
typedef struct channels {
    const work *w;
    size_t j, end;
    enum { ALL, SUMS, OUTPUT, SHARES } what;
    int threads;
} channels;

/* Does the output join rows? Only if k has all channels, so that its rows are contiguous. */
NL_INLINE bool joins_rows(const channels *k) {
    return k->w->together > 1 && k->j == 0 && k->end == k->w->v.c;
}

NL_INLINE size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The number of lanes that can be read at an element: VLEN unless the tensor ends. A vector may
 * reach into the next row, because the arrays have room for the extra lanes. */
NL_INLINE size_t readable_lanes(work w, size_t at) {
    return least(w.total - at, VLEN);
}

/* Prefetches x (and dy) at an element; an address beyond the tensor is harmless. */
NL_INLINE void prefetch_at(work w, nl_dtype t, size_t at, batch_recipe q) {
    const size_t bytes = at * nl_dtype_size(t);
    vprefetch((const void *)((uintptr_t)w.v.x + bytes));
    if (q.backward) vprefetch((const void *)((uintptr_t)w.dy + bytes));
}

/* The sums (sums.c) and the output (output.c) of pieces [begin, end) of some channels. */
#define batch_sums NL_OF_ISA(batch_sums)
#define batch_output NL_OF_ISA(batch_output)
void batch_sums(const channels *k, size_t begin, size_t end);
void batch_output(const channels *k, size_t begin, size_t end);

/* Rows [row, end) of some channels. */
typedef struct part {
    const channels *k;
    size_t row, end;
    float *sums;
} part;

typedef void part_function(const part *p);
