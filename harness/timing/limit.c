/* Picks the mover with the widest vectors and divides the work among threads.
 * SPDX-License-Identifier: MIT */
#include "timing/limit.h"
#include "normlab.h"
#include "parallel.h"

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
static mover *widest(void) {
    static mover *found;
#define LIMIT_ENTRY(isa) \
    if (nl_isa_runs(#isa)) best = limit_##isa;
    if (!found) {
        mover *best = 0;
#include "limit.inc"
        found = best;
    }
#undef LIMIT_ENTRY
    return found;
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
    widest()(&j);
}

void limit_move(const limit_job *job, int threads) {
    widest(); /* found before the threads start: they only read it */
    if (threads <= 1)
        widest()(job);
    else
        nl_parallel_for((job->bytes + GRAIN - 1) / GRAIN, threads, piece, (void *)job);
}
