/* Runs the steps of a BatchNorm (sums, statistics, output), in groups of channels and on threads.
 * SPDX-License-Identifier: MIT */
#include "gradients.h"
#include "parallel.h"
#include "statistics.h"

/* The number of rows that the output writes as one row of at most WIDE columns; a power of two.
 * Setting coefficients costs as much as one joined row, so at least 8 joined rows use them. */
static size_t together(size_t n, size_t columns) {
    size_t rows = 1;
    while (2 * rows * columns <= WIDE && 2 * rows <= PIECE && 16 * rows <= n) rows *= 2;
    return rows;
}

static work work_for(const nl_problem *p) {
    const bool runs = p->s >= SHORT, backward = p->pass == NL_BACKWARD;
    work w = {.runs = runs, .width = runs ? 1 : p->s, .total = p->n * p->c * p->s};
    w.columns = p->c * w.width;
    w.padded = (w.columns + STRIP - 1) / STRIP * STRIP;
    w.together = together(p->n, w.runs ? WIDE : w.columns);
    w.joined = w.together > 1 ? (w.together * w.columns / STRIP + 2) * STRIP : 0;
    w.piece = runs ? (SPAN + p->s - 1) / p->s : PIECE;
    w.pieces = (p->n + w.piece - 1) / w.piece;
    w.per_count = 1 / (double)(p->n * p->s);
    w.cached = (backward ? 2 : 1) * w.total * nl_dtype_size(p->dtype) <= CACHED;
    w.cast = !backward && p->casting == NL_CAST_BEFORE_WEIGHT && p->dtype != NL_F32;
    return w;
}

/* Floats before `wide`. With streaming, vectors begin at cache lines of y, so a row's last vector
 * may end past the arrays: hence + VLEN. */
static size_t before_wide(const work *w, bool inference) {
    return (5 + (inference ? 0 : 4 * w->pieces)) * w->padded + VLEN;
}

size_t batch_scratch(const nl_problem *p) {
    const work w = work_for(p);
    return (before_wide(&w, p->pass == NL_INFERENCE) + 5 * w.joined) * sizeof(float);
}

static void batch_step(void *context, size_t begin, size_t end);

/* Repeats the coefficients for rows that the output joins. */
static void repeat_coefficients(const work *w) {
    const float *from[] = {w->m, w->a, w->b, w->gain, w->bias};
    const size_t used = w->cast ? 5 : w->q.backward ? 4 : 3;
    for (size_t i = 0; i < used; i++)
        for (size_t r = 0; r < w->together; r++)
            memcpy(w->wide + i * w->joined + r * w->columns, from[i], w->columns * sizeof(float));
}

/* Runs one step for all pieces, shared among threads. */
NL_INLINE void for_pieces(channels k, int what) {
    k.what = what;
    if (k.threads > 1)
        nl_parallel_for(k.w->pieces, k.threads, batch_step, &k);
    else
        batch_step(&k, 0, k.w->pieces);
}

static void do_channels(channels k) {
    const batch_recipe q = k.w->q;
    bool some_in_double = false;
    if (q.inference) {
        set_running(k);
    } else if (q.backward) {
        set_saved(k);
        for_pieces(k, SUMS);
        set_gradients(k);
    } else {
        set_guess(k, q);
        for_pieces(k, SUMS);
        if (q.statistics != CERTIFIED) {
            set_mean(k);
            for_pieces(k, SUMS);
        }
        some_in_double = set_parameters(k, q);
    }
    const bool in_place = k.w->v.x == k.w->v.y;
    if (some_in_double && in_place) put_in_double(k, true);
    if (joins_rows(&k)) repeat_coefficients(k.w);
    for_pieces(k, OUTPUT);
    if (some_in_double && !in_place) put_in_double(k, false);
}

/* If a core's own cache holds one channel, processes runs in groups of channels that fit the cache,
 * so that the second reading hits it. Columns are not divided: parts of rows, a row's length apart,
 * would share few cache sets. */
static void do_groups(channels k) {
    const work *w = k.w;
    const batch_recipe q = w->q;
    const size_t bytes = (q.backward ? 2 : 1) * w->v.n * w->v.s * nl_dtype_size(w->v.t);
    const bool divide = w->runs && k.threads == 1 && !q.inference && bytes <= 2 * CACHED;
    const size_t end = k.end, group = divide ? (CACHED + bytes - 1) / bytes : end - k.j;
    for (; k.j < end; k.j = k.end) {
        k.end = least(k.j + group, end);
        do_channels(k);
    }
}

static size_t share_of(const work *w) {
    return w->runs ? 1 : STRIP;
}

/* Runs one step on pieces (or shares) [begin, end) of some channels. Threads call it. */
static void batch_step(void *context, size_t begin, size_t end) {
    const channels *k = context;
    const size_t share = share_of(k->w);
    channels own = {k->w, begin * share, least(end * share, k->end), ALL, 1};
    switch (k->what) {
    case SUMS: batch_sums(k, begin, end); break;
    case OUTPUT: batch_output(k, begin, end); break;
    case ALL: do_groups(*k); break;
    case SHARES: do_groups(own); break; /* a thread's share of the channels */
    }
}

/* Do threads divide the channels instead of the pieces of samples? Runs of a channel then stay in a
 * core's cache between the readings. Columns would share few cache sets, so threads divide the
 * pieces if these keep four fifths of the threads busy. */
static bool by_channels(const work *w, size_t t) {
    const size_t turns = (w->pieces + t - 1) / t;
    if ((w->v.c + share_of(w) - 1) / share_of(w) < t) return false;
    return w->runs ? w->pieces < 4 * t : 5 * w->pieces < 4 * turns * t;
}

/* Both ways of sharing add the same pieces in the same order. */
static void run_all(work w, float *scratch, int threads) {
    w.m = scratch, w.a = w.m + w.padded, w.b = w.a + w.padded;
    w.gain = w.b + w.padded, w.bias = w.gain + w.padded, w.sums = w.bias + w.padded;
    w.wide = scratch + before_wide(&w, w.q.inference);
    channels all = {&w, 0, w.v.c, ALL, threads};
    if (threads > 1 && by_channels(&w, (size_t)threads)) {
        all.what = SHARES;
        nl_parallel_for((w.v.c + share_of(&w) - 1) / share_of(&w), threads, batch_step, &all);
    } else {
        do_groups(all);
    }
}

void batch_forward(const nl_problem *p, const nl_forward_args *a, int threads, batch_recipe q) {
    work w = work_for(p);
    w.v = nl_view_of(p, a), w.q = q;
    run_all(w, a->scratch, threads);
}

void batch_backward(const nl_problem *p, const nl_backward_args *a, int threads, batch_recipe q) {
    const nl_backward_view back = nl_backward_view_of(p, a);
    work w = work_for(p);
    w.v = nl_view_of(p, &(nl_forward_args){.x = a->x, .gamma = a->gamma, .y = a->dx});
    w.dy = a->dy, w.back = &back, w.q = q;
    run_all(w, a->scratch, threads);
}
