/* Chooses among the movers, and divides the work among threads. SPDX-License-Identifier: MIT */
#include "timing/limit.h"
#include "normlab.h"
#include "parallel.h"
#include "platform/platform.h"

#include <math.h>
#include <stdio.h>

typedef void mover(const limit_job *j);

#define LIMIT_ENTRY(isa) mover limit_##isa;
#include "limit.inc"
#undef LIMIT_ENTRY

/* The build lists the widest ISA last. */
static const struct movers {
    mover *move;
    const char *isa;
} movers[] = {
#define LIMIT_ENTRY(isa) {limit_##isa, #isa},
#include "limit.inc"
#undef LIMIT_ENTRY
};

/* Finds the copy loops for the widest, or second widest, vectors of this processor. */
static const struct movers *find(bool narrower) {
    static const struct movers *found[2];
    if (!found[0]) {
        const struct movers *two[2] = {movers, movers};
        for (size_t i = 1; i < sizeof movers / sizeof *movers; i++)
            if (nl_isa_runs(movers[i].isa)) two[1] = two[0], two[0] = &movers[i];
        found[1] = two[1], found[0] = two[0];
    }
    return found[narrower];
}

enum { GRAIN = 64 };

static void piece(void *context, size_t begin, size_t end) {
    const limit_job *all = context;
    limit_job j = *all;
    size_t from = begin * GRAIN, to = end * GRAIN < all->bytes ? end * GRAIN : all->bytes;
    for (int i = 0; i < j.reads; i++) j.in[i] = (const char *)j.in[i] + from;
    for (int i = 0; i < j.writes; i++) j.out[i] = (char *)j.out[i] + from;
    j.bytes = to - from;
    find(j.way.narrower)->move(&j);
}

void limit_move(const limit_job *job, int threads) {
    const struct movers *m = find(job->way.narrower); /* before the threads: find() sets statics */
    if (threads <= 1)
        m->move(job);
    else
        nl_parallel_for((job->bytes + GRAIN - 1) / GRAIN, threads, piece, (void *)job);
}

/* Other widths and steps are tried only for shorter calls: they matter for data in the caches. */
static const double long_call_ns = 1e6;

typedef struct candidates {
    limit_way way[2 * (AHEAD_LOADED + 1) + 3];
    double least[2 * (AHEAD_LOADED + 1) + 3];
    size_t count, best;
} candidates;

/* Repeats trials of each way that is within `near` of the best way. The ways take turns, so that a
 * disturbance hits at most one trial of each way. */
static void sweep(candidates *c, size_t times, double near, double (*trial)(void *, limit_way),
                  void *context) {
    for (size_t t = 0; t < times; t++) {
        const double most = near * c->least[c->best];
        for (size_t i = 0; i < c->count; i++) {
            if (c->least[i] <= most) c->least[i] = fmin(c->least[i], trial(context, c->way[i]));
            if (c->least[i] < c->least[c->best]) c->best = i;
        }
    }
}

static void add(candidates *c, limit_way way) {
    c->way[c->count] = way, c->least[c->count] = INFINITY;
    c->count++;
}

limit_way limit_choose(limit_store stores, bool reads, double (*trial)(void *, limit_way),
                       void *context) {
    enum { REPEATS = 3 };
    candidates c = {.count = 0};
    for (limit_store s = LIMIT_ORDINARY;
         s <= (has_streaming_stores() ? LIMIT_STREAM : LIMIT_ORDINARY); s++)
        for (limit_ahead a = 0; a <= (reads ? AHEAD_LOADED : AHEAD_NOTHING); a++)
            if (stores == LIMIT_EITHER || s == stores) add(&c, (limit_way){.store = s, .ahead = a});
    if (c.count == 0) add(&c, (limit_way){0});
    sweep(&c, 1, INFINITY, trial, context);
    if (c.least[c.best] < long_call_ns) {
        const size_t times = (size_t)fmin(1 + long_call_ns / c.least[c.best], 16);
        sweep(&c, times, INFINITY, trial, context);
        const limit_way first = c.way[c.best];
        for (int i = 1; i < 4; i++)
            add(&c, (limit_way){first.store, first.ahead, .brief = i & 1, .narrower = i & 2});
        sweep(&c, times, INFINITY, trial, context);
    }
    for (int r = 0; r < REPEATS; r++) sweep(&c, 1, 1 + 0.12 / (r + 1), trial, context);
    return c.way[c.best];
}

const char *limit_way_name(limit_way w, char text[64]) {
    static const char *const aheads[] = {"", " + lines ahead", " + blocks ahead",
                                         " + blocks loaded"};
    snprintf(text, 64, "%s x %d%s%s", find(w.narrower)->isa, w.brief ? 2 : 8,
             w.store == LIMIT_STREAM ? " + streaming" : "", aheads[w.ahead]);
    return text;
}
