/* BatchNorm in vector words: the recipe of a rung, and what its steps share. batch_columns.h sums
 * adjacent channels, batch_runs.h contiguous ones; batch.h drives both.
 * SPDX-License-Identifier: MIT */
#ifndef NL_BATCH_WORK_H
#define NL_BATCH_WORK_H

#include "vec.h"

/* The recipe of a rung: constants that every function inlined into it receives. */
typedef struct batch_recipe {
    bool backward;
    bool inference;                                   /* on the running statistics */
    enum { TWO_PASS, REFINED, CERTIFIED } statistics; /* of training */
    bool tiles;        /* sums stay in registers for several rows, and loops do four vectors */
    bool reverse;      /* the output begins where the sums ended */
    bool streaming;    /* stores y or dx past the caches */
    int prefetch_rows; /* distance at which x is prefetched, 0: not at all */
} batch_recipe;

enum {
    STRIP = 64,   /* channels whose statistics are made together */
    SHORT = 32,   /* channels with fewer values a sample are read as columns */
    PIECE = 256,  /* rows of columns that are summed in float; pieces are added in double */
    BLOCK = 16,   /* rows of a piece that are summed by themselves, then join those before */
    SPAN = 16384, /* elements of all runs of a piece */
    RUN = 16 * SUM_BLOCK, /* elements of a run that are summed in float; then in double */
    CACHED = 524288, /* bytes of x (and dy) that a core's own cache keeps between two readings */
    LANES = VLEN < 4 ? 4 : 16 /* of a sum, at least: a block has 16 rows, and a run four vectors */
};

/* A step of the work on pieces [begin, end) of some channels. A rung compiles one with its recipe;
 * threads run it. */
typedef void batch_step(void *context, size_t begin, size_t end);

/* One lane of a vector sums one column: a channel of [n][c][1]. Where s is short, a channel is s
 * adjacent columns, which are added at the end; where it is long, a channel is summed along its
 * runs and counts as one column. The arrays have an element for each column, and are padded to
 * whole strips:
 *
 *     y = (x - m) * a + b            or, with a cast before the weight,
 *     y = D((x - m) * a + b) * gain + bias
 *
 * Backward, y stands for dx, and dy is summed instead of x - m:
 *
 *     dx = ((x - m) * a + b + dy) * gain
 */
typedef struct work {
    nl_view v;                    /* backward: y is dx */
    const void *dy;               /* backward only */
    const nl_backward_view *back; /* backward only */
    batch_step *step;
    double per_count; /* 1 / (n * s) */
    size_t total, columns, padded;
    size_t width;         /* columns of a channel */
    size_t piece, pieces; /* samples of a piece, and how many pieces */
    bool runs, cast, cached;
    float *m, *a, *b, *gain, *bias;
    float *sums; /* four arrays per piece: d, d * (x - m), and both for the current block; d is
                    x - m, or dy in backward. Of runs: two arrays of double */
} work;

/* Channels [j, end) of all samples, and what a step does with them: both sums, output, or ALL in
 * turn; SHARES runs ALL on each thread's share. */
typedef struct channels {
    const work *w;
    size_t j, end;
    enum { ALL, SUMS, OUTPUT, SHARES } what;
    int threads;
} channels;

NL_INLINE size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static work work_for(const nl_problem *p) {
    const bool runs = p->s >= SHORT, backward = p->pass == NL_BACKWARD;
    work w = {.runs = runs, .width = runs ? 1 : p->s, .total = p->n * p->c * p->s};
    w.columns = p->c * w.width;
    w.padded = (w.columns + STRIP - 1) / STRIP * STRIP;
    w.piece = runs ? (SPAN + p->s - 1) / p->s : PIECE;
    w.pieces = (p->n + w.piece - 1) / w.piece;
    w.per_count = 1 / (double)(p->n * p->s);
    w.cached = (backward ? 2 : 1) * w.total * nl_dtype_size(p->dtype) <= CACHED;
    w.cast = !backward && p->casting == NL_CAST_BEFORE_WEIGHT && p->dtype != NL_F32;
    return w;
}

/* Streaming begins vectors where lines of y begin, so the last one of a row may end past the
 * arrays. */
static size_t batch_scratch(const nl_problem *p) {
    const work w = work_for(p);
    const size_t arrays = 5 + (p->pass == NL_INFERENCE ? 0 : 4 * w.pieces);
    return (arrays * w.padded + VLEN) * sizeof(float);
}

/* A whole vector may be read wherever the tensor goes on, even into the next row: the arrays have
 * room for the extra lanes. */
NL_INLINE size_t readable_lanes(work w, size_t at) {
    return least(w.total - at, VLEN);
}

#endif
