/* Chooses among the movers, and divides the work among threads. SPDX-License-Identifier: MIT */
#include "timing/limit.h"
#include "normlab.h"
#include "parallel.h"

#include <math.h>
#include <stdio.h>

#if defined(__x86_64__)
enum { STREAMS = true };
#else
enum { STREAMS = false };
#endif

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

/* The widest vectors that run here, or the second widest. */
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

bool limit_has_streaming(void) {
    return STREAMS;
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
    const struct movers *m = find(job->way.narrower); /* before the threads start: they only read */
    if (threads <= 1)
        m->move(job);
    else
        nl_parallel_for((job->bytes + GRAIN - 1) / GRAIN, threads, piece, (void *)job);
}

/* Wide vectors and long steps matter in the caches only, where a trial is short. */
static const double long_call_ns = 1e6;

limit_way limit_choose(limit_store stores, bool reads, double (*trial)(void *, limit_way),
                       void *context) {
    enum { FIRST = 2 * (AHEAD_BLOCKS + 1), REPEATS = 3 };
    limit_way ways[FIRST + 3];
    double least[FIRST + 3];
    size_t count = 0, best = 0;
    for (limit_store s = LIMIT_ORDINARY; s <= (STREAMS ? LIMIT_STREAM : LIMIT_ORDINARY); s++)
        for (limit_ahead a = 0; a <= (reads ? AHEAD_BLOCKS : AHEAD_NOTHING); a++)
            if (stores == LIMIT_EITHER || s == stores)
                ways[count++] = (limit_way){.store = s, .ahead = a};
    if (count == 0) ways[count++] = (limit_way){0};
    for (size_t i = 0; i < count; i++) {
        least[i] = trial(context, ways[i]);
        if (least[i] < least[best]) best = i;
    }
    limit_way first = ways[best];
    for (int i = 1; i < 4 && least[best] < long_call_ns; i++) {
        ways[count] = first;
        ways[count].brief = i & 1, ways[count].narrower = i & 2;
        least[count] = trial(context, ways[count]);
        count++;
    }
    for (int r = 0; r < REPEATS; r++) {
        for (size_t i = 0; i < count; i++)
            if (least[i] < least[best]) best = i;
        double near = (1 + 0.12 / (r + 1)) * least[best];
        for (size_t i = 0; i < count; i++)
            if (least[i] <= near) least[i] = fmin(least[i], trial(context, ways[i]));
    }
    for (size_t i = 0; i < count; i++)
        if (least[i] < least[best]) best = i;
    return ways[best];
}

const char *limit_way_name(limit_way w, char text[64]) {
    static const char *const aheads[] = {"", " + lines ahead", " + blocks ahead"};
    snprintf(text, 64, "%s x %d%s%s", find(w.narrower)->isa, w.brief ? 2 : 8,
             w.store == LIMIT_STREAM ? " + streaming" : "", aheads[w.ahead]);
    return text;
}
