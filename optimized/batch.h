/* BatchNorm in vector words: training, backward and inference. A rung compiles do_step() with its
 * recipe, and batch_forward() or batch_backward() drives it. SPDX-License-Identifier: MIT */
#ifndef NL_BATCH_H
#define NL_BATCH_H

#include "batch_columns.h"
#include "batch_gradients.h"
#include "batch_runs.h"
#include "batch_statistics.h"
#include "parallel.h"

static const nl_threshold batch_thresholds[] = {{NL_OF_N, TILE_ROWS},
                                                {NL_OF_N, BLOCK},
                                                {NL_OF_N, PIECE},
                                                {NL_OF_C, STRIP},
                                                {NL_OF_COLUMNS, VLEN},
                                                {NL_OF_COLUMNS, 4 * VLEN},
                                                {NL_OF_COLUMNS, NARROW},
                                                {NL_OF_COLUMNS, L1_COLUMNS},
                                                {NL_OF_S, VLEN},
                                                {NL_OF_S, SHORT},
                                                {NL_OF_S, 4 * VLEN},
                                                {NL_OF_S, SUM_BLOCK},
                                                {NL_OF_S, RUN},
                                                {NL_OF_GROUP, SPAN},
                                                {NL_OF_ELEMENTS, CACHED / 8}, /* dy too, f32 */
                                                {NL_OF_ELEMENTS, CACHED / 4},
                                                {NL_OF_ELEMENTS, CACHED / 2},
                                                {0}};

/* Rows [row, end) of some channels. */
typedef struct part {
    const channels *k;
    size_t row, end;
    float *sums;
    bool cast;
    batch_recipe q;
} part;

NL_INLINE void sum_part(nl_dtype t, const void *context) {
    const part *p = context;
    const channels *k = p->k;
    const size_t width = k->w->width;
    if (k->w->runs)
        sum_runs(*k->w, t, p->row, p->end, k->j, k->end, p->sums, p->q);
    else
        sum_columns(*k->w, t, p->row, p->end, k->j * width, k->end * width, p->sums, p->q);
}

NL_INLINE void put_part(nl_dtype t, const void *context) {
    const part *p = context;
    const channels *k = p->k;
    const size_t width = k->w->width;
    if (k->w->runs)
        put_runs(*k->w, t, p->cast, p->row, p->end, k->j, k->end, p->q);
    else
        put_columns(*k->w, t, p->cast, p->row, p->end, k->j * width, k->end * width, p->q);
}

NL_INLINE void sum_pieces(const channels *k, size_t begin, size_t end, batch_recipe q) {
    const work *w = k->w;
    for (size_t i = begin; i < end; i++) {
        const size_t row = i * w->piece;
        const part p = {k,     row, least(row + w->piece, w->v.n), w->sums + 4 * i * w->padded,
                        false, q};
        nl_with_dtype(w->v.t, sum_part, &p);
    }
}

/* A cast before the weight is rare: one loop serves all types. Outlined too: beside these loops the
 * compiler spills addresses in those of sum_pieces(). */
static __attribute__((noinline)) void put_pieces(const channels *k, size_t begin, size_t end,
                                                 batch_recipe q) {
    const work *w = k->w;
    part p = {k, begin * w->piece, least(end * w->piece, w->v.n), NULL, false, q};
    if (!w->cast) {
        nl_with_dtype(w->v.t, put_part, &p);
    } else {
        p.cast = true;
        put_part(w->v.t, &p);
    }
    if (q.streaming) vfence();
}

/* Runs one step for all pieces, shared among threads. */
NL_INLINE void for_pieces(channels k, int what) {
    k.what = what;
    if (k.threads > 1)
        nl_parallel_for(k.w->pieces, k.threads, k.w->step, &k);
    else
        k.w->step(&k, 0, k.w->pieces);
}

/* Runs all steps for some channels. Outlined, so that the compiler optimizes the loops of the other
 * steps by themselves. */
static __attribute__((noinline)) void do_channels(channels k, batch_recipe q) {
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
    for_pieces(k, OUTPUT);
    if (some_in_double && !in_place) put_in_double(k, false);
}

/* Does the runs of so many channels at a time that both readings come from a core's own cache, if
 * it holds one channel. A row of columns is not divided: its strips, at multiples of the row's
 * length, would share few sets of the cache. */
NL_INLINE void do_groups(channels k, batch_recipe q) {
    const work *w = k.w;
    const size_t bytes = (q.backward ? 2 : 1) * w->v.n * w->v.s * nl_dtype_size(w->v.t);
    const bool divide = w->runs && k.threads == 1 && !q.inference && bytes <= 2 * CACHED;
    const size_t end = k.end, group = divide ? (CACHED + bytes - 1) / bytes : end - k.j;
    for (; k.j < end; k.j = k.end) {
        k.end = least(k.j + group, end);
        do_channels(k, q);
    }
}

static size_t share_of(const work *w) {
    return w->runs ? 1 : STRIP;
}

/* The body of a rung's step(). */
NL_INLINE void do_step(void *context, size_t begin, size_t end, batch_recipe q) {
    const channels *k = context;
    const size_t share = share_of(k->w);
    switch (k->what) {
    case SUMS:
        if (!q.inference) sum_pieces(k, begin, end, q);
        break;
    case OUTPUT: put_pieces(k, begin, end, q); break;
    case ALL: do_groups(*k, q); break;
    case SHARES: /* a thread's share of the channels */
        k->w->step(&(channels){k->w, begin * share, least(end * share, k->end), ALL, 1}, 0, 1);
        break;
    }
}

/* Do threads share the channels, and not the pieces of the samples? Runs of a channel stay in a
 * core's cache between the readings. Parts of a row of columns share few sets of it, so they wait
 * for each other between steps if the pieces keep four fifths of the threads busy. */
static bool by_channels(const work *w, size_t t) {
    const size_t turns = (w->pieces + t - 1) / t;
    if ((w->v.c + share_of(w) - 1) / share_of(w) < t) return false;
    return w->runs ? w->pieces < 4 * t : 5 * w->pieces < 4 * turns * t;
}

/* Either way a sum adds the same pieces in the same order. */
static void run_all(work w, float *scratch, int threads) {
    w.m = scratch, w.a = w.m + w.padded, w.b = w.a + w.padded;
    w.gain = w.b + w.padded, w.bias = w.gain + w.padded, w.sums = w.bias + w.padded;
    channels all = {&w, 0, w.v.c, ALL, threads};
    if (threads > 1 && by_channels(&w, (size_t)threads)) {
        all.what = SHARES;
        nl_parallel_for((w.v.c + share_of(&w) - 1) / share_of(&w), threads, w.step, &all);
    } else {
        w.step(&all, 0, 1);
    }
}

/* The body of a rung's forward() or backward(), around its step(). */
static inline void batch_forward(const nl_problem *p, const nl_forward_args *a, int threads,
                                 batch_step *step) {
    work w = work_for(p);
    w.v = nl_view_of(p, a), w.step = step;
    run_all(w, a->scratch, threads);
}

static inline void batch_backward(const nl_problem *p, const nl_backward_args *a, int threads,
                                  batch_step *step) {
    const nl_backward_view back = nl_backward_view_of(p, a);
    work w = work_for(p);
    w.v = nl_view_of(p, &(nl_forward_args){.x = a->x, .gamma = a->gamma, .y = a->dx});
    w.dy = a->dy, w.back = &back, w.step = step;
    run_all(w, a->scratch, threads);
}

#endif
