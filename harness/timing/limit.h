/* The machine's limit: the fastest way to copy, read or write the same buffers with hardly any
 * arithmetic. SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Streaming stores bypass the caches. */
typedef enum limit_store { LIMIT_ORDINARY, LIMIT_STREAM, LIMIT_EITHER } limit_store;

/* How a mover reads ahead: it does not; it prefetches each line 4 KiB ahead; it prefetches the next
 * 4 KiB at once, as a rung prefetches its next row; or it loads 4 KiB before it stores anything. */
typedef enum limit_ahead { AHEAD_NOTHING, AHEAD_LINES, AHEAD_BLOCKS, AHEAD_LOADED } limit_ahead;

/* Selects a mover. All zeros: ordinary stores of the widest vectors that run here, eight per
 * step. */
typedef struct limit_way {
    limit_store store; /* not LIMIT_EITHER */
    limit_ahead ahead;
    bool brief;    /* two vectors per step */
    bool narrower; /* uses the second widest vectors */
} limit_way;

/* Reads `bytes` bytes of each in[] and writes `bytes` bytes to each out[]. reads + writes is 1 + 0,
 * 0 + 1, 1 + 1, 2 + 1, 3 + 1, 2 + 2 or 3 + 2. bytes is a multiple of 2; streaming needs 64-byte
 * aligned out[]. */
typedef struct limit_job {
    const void *in[3];
    void *out[2];
    int reads, writes;
    size_t bytes;
    limit_way way;
} limit_job;

/* Moves the bytes, divided evenly among threads. */
void limit_move(const limit_job *job, int threads);

/* The fastest way with `stores`; tries prefetching only if `reads`. trial() returns a call's time.
 * Slow ways get fewer trials. */
limit_way limit_choose(limit_store stores, bool reads,
                       double (*trial)(void *context, limit_way way), void *context);

/* "avx512 x 8 + streaming + lines ahead" */
const char *limit_way_name(limit_way way, char text[64]);

/* The machine's other limit: multiply-adds, with nothing to load or store. The functions
 * peak_ISA(size_t steps, int chains), one per ISA, execute `steps` multiply-adds of vectors in each
 * of 1, 2, 4, 8 or PEAK_CHAINS chains of dependent operations, and return the flops. */

enum { PEAK_CHAINS = 12 }; /* the chains and two constants fit 16 registers */
