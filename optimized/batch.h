/* BatchNorm in vector words: training, backward and inference. A rung is a recipe and the line that
 * puts it into the table; the work is here, in batch_columns.h (channels beside each other),
 * batch_runs.h (one after the other), batch_statistics.h and batch_gradients.h.
 * SPDX-License-Identifier: MIT */
#ifndef NL_BATCH_H
#define NL_BATCH_H

#include "parallel.h"
#include "vec.h"

#include <float.h>

typedef struct batch_recipe {
    bool backward;                             /* dx from dy; else y, */
    bool inference;                            /* on the running statistics; else: */
    enum { TWO_PASS, REFINED, CERTIFIED } how; /* the statistics, in two readings or in one */
    bool tiles;     /* sums stay in registers for some rows, and loops do four vectors */
    int ahead;      /* rows of x to ask for before they are read, 0: none */
    bool reverse;   /* the output begins where the sums ended */
    bool streaming; /* y or dx past the caches */
    bool threaded;
} batch_recipe;

/* The rung's, given below its #include: a constant in everything here. */
static const batch_recipe q;

enum {
    STRIP = 64,      /* channels whose statistics are made together */
    SHORT = 32,      /* channels with fewer values a sample are read as columns */
    PIECE = 512,     /* rows that are summed in float; pieces are added up in double */
    STRETCH = 16384, /* elements of one run, or of several, that are */
    CACHED = 524288, /* bytes of x (and dy) that a core's own cache keeps between two readings */
    FORK = 32768     /* elements from which on a second thread pays */
};

/* A column is what one lane of a vector sums: a channel of [n][c][1]. Where s is short, a channel is
 * s columns beside each other, which are added up at the end; where it is long, a channel is summed
 * along its runs, and counts as one column here. The arrays have an element for each column, and are
 * padded to whole strips:
 *
 *     y = (x - m) * a + b            or, with a cast before the weight,
 *     y = D((x - m) * a + b) * gain + bias
 *
 * Backward, y stands for dx, and what is summed is dy instead of x - m:
 *
 *     dx = ((x - m) * a + b + dy) * gain
 */
typedef struct work {
    nl_view v;
    const void *dy;
    const nl_backward_args *back;
    double per; /* 1 / (n * s) */
    size_t total, columns, pad;
    size_t wide;          /* columns of a channel */
    size_t piece, pieces; /* samples of a piece */
    bool runs, cast, cached;
    float *m, *a, *b, *gain, *bias;
    float
        *sums; /* a piece's: of x - m or dy, of that times x - m, and both of the block under way */
} work;

NL_INLINE size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static work work_for(const nl_problem *p) {
    work w = {.runs = p->s >= SHORT, .wide = p->s >= SHORT ? 1 : p->s};
    w.total = p->n * p->c * p->s, w.columns = p->c * w.wide;
    w.pad = (w.columns + STRIP - 1) / STRIP * STRIP;
    w.piece = w.runs ? (STRETCH + p->s - 1) / p->s : PIECE;
    w.pieces = (p->n + w.piece - 1) / w.piece;
    w.per = 1 / (double)(p->n * p->s);
    w.cached = (q.backward ? 2 : 1) * w.total * nl_dtype_bytes(p->dtype) <= CACHED;
    w.cast = !q.backward && p->casting == NL_CAST_BEFORE_WEIGHT && p->dtype != NL_F32;
    return w;
}

static size_t batch_scratch(const nl_problem *p) {
    const work w = work_for(p);
    return (5 + (q.inference ? 0 : 4 * w.pieces)) * w.pad * sizeof(float);
}

/* Sums whose length a bound may count on: a block has 16 rows, and a run four vectors at a time. */
enum { LANES = VLEN < 4 ? 4 : 16 };

#include "batch_columns.h"
#include "batch_runs.h"

/* Channels [j, end) of all samples. */
typedef struct part {
    const work *w;
    size_t j, end;
} part;

NL_INLINE void sum_part(const part *k, nl_dtype t, size_t row, size_t end, float *sums) {
    const size_t wide = k->w->wide;
    if (k->w->runs)
        sum_runs(*k->w, t, row, end, k->j, k->end, sums);
    else
        sum_columns(*k->w, t, row, end, k->j * wide, k->end * wide, sums);
}

/* The sums of some pieces. The types are constants in loops of their own. */
static void sum_pieces(void *context, size_t begin, size_t end) {
    const part *k = context;
    for (size_t i = begin; i < end; i++) {
        const size_t row = i * k->w->piece, last = least(row + k->w->piece, k->w->v.n);
        float *sums = k->w->sums + 4 * i * k->w->pad;
        switch (k->w->v.t) {
        case NL_F32: sum_part(k, NL_F32, row, last, sums); break;
        case NL_F16: sum_part(k, NL_F16, row, last, sums); break;
        case NL_BF16: sum_part(k, NL_BF16, row, last, sums); break;
        }
    }
}

NL_INLINE void put_part(const part *k, nl_dtype t, bool cast, size_t row, size_t end) {
    const size_t wide = k->w->wide;
    if (k->w->runs)
        put_runs(*k->w, t, cast, row, end, k->j, k->end);
    else
        put_columns(*k->w, t, cast, row, end, k->j * wide, k->end * wide);
}

/* y of some pieces. */
static void put_pieces(void *context, size_t begin, size_t end) {
    const part *k = context;
    const nl_dtype t = k->w->v.t;
    const size_t row = begin * k->w->piece, last = least(end * k->w->piece, k->w->v.n);
    if (k->w->cast)
        put_part(k, t, true, row, last);
    else if (t == NL_F32)
        put_part(k, NL_F32, false, row, last);
    else if (t == NL_F16)
        put_part(k, NL_F16, false, row, last);
    else
        put_part(k, NL_BF16, false, row, last);
    if (q.streaming) vfence();
}

#include "batch_statistics.h"

#include "batch_gradients.h"

static void for_pieces(part k, int threads, void (*body)(void *, size_t, size_t)) {
    if (threads > 1)
        nl_parallel_for(k.w->pieces, threads, body, &k);
    else
        body(&k, 0, k.w->pieces);
}

/* Some channels from the beginning to the end. */
static void do_channels(part k, int threads) {
    bool odd = false;
    if (q.inference) {
        set_running(k);
    } else if (q.backward) {
        set_saved(k);
        for_pieces(k, threads, sum_pieces);
        set_gradients(k);
    } else {
        set_guess(k);
        for_pieces(k, threads, sum_pieces);
        if (q.how != CERTIFIED) {
            set_mean(k);
            for_pieces(k, threads, sum_pieces);
        }
        odd = set_parameters(k);
    }
    const bool in_place = k.w->v.x == k.w->v.y;
    if (odd && in_place) put_in_double(k, true);
    for_pieces(k, threads, put_pieces);
    if (odd && !in_place) put_in_double(k, false);
}

static size_t share_of(const work *w) {
    return w->runs ? 1 : STRIP;
}

static void do_shares(void *context, size_t begin, size_t end) {
    const work *w = context;
    const size_t share = share_of(w);
    do_channels((part){w, begin * share, least(end * share, w->v.c)}, 1);
}

/* Threads share the channels, and if there are too few the samples: a sum is made of the same
 * pieces in the same order either way. */
NL_INLINE void do_all(work w, float *scratch, int threads) {
    w.m = scratch, w.a = w.m + w.pad, w.b = w.a + w.pad;
    w.gain = w.b + w.pad, w.bias = w.gain + w.pad, w.sums = w.bias + w.pad;
    if (!q.threaded || w.total < FORK) threads = 1;
    const size_t shares = (w.v.c + share_of(&w) - 1) / share_of(&w), t = (size_t)threads;
    if (threads > 1 && shares >= t && w.pieces < 4 * t)
        nl_parallel_for(shares, threads, do_shares, &w);
    else
        do_channels((part){&w, 0, w.v.c}, threads);
}

/* The whole of a rung's forward(), or backward(). */
NL_INLINE void batch_forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    work w = work_for(p);
    w.v = nl_view_of(p, a);
    do_all(w, a->scratch, threads);
}

NL_INLINE void batch_backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    const nl_forward_args like = {.x = a->x, .gamma = a->gamma, .y = a->dx};
    work w = work_for(p);
    w.v = nl_view_of(p, &like), w.dy = a->dy, w.back = a;
    do_all(w, a->scratch, threads);
}

#endif
