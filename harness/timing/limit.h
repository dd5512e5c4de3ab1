/* The machine's limit: plain copying, reading or writing of the same buffers with hardly any
 * arithmetic, which a kernel that moves the same bytes cannot beat. SPDX-License-Identifier: MIT */
#ifndef NL_LIMIT_H
#define NL_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/* Ordinary stores; streaming stores, which bypass the caches; and streaming stores with loads
 * prefetched 4 KiB ahead, which some machines need for their best. */
typedef enum limit_store { LIMIT_ORDINARY, LIMIT_STREAM, LIMIT_STREAM_AHEAD } limit_store;

/* Reads `bytes` of each in[] and writes as many to each out[]. reads + writes is 1 + 0, 0 + 1,
 * 1 + 1, 2 + 1, 3 + 1 or 2 + 2. bytes is a multiple of 2; streaming needs 64-byte aligned out[]. */
typedef struct limit_job {
    const void *in[3];
    void *out[2];
    int reads, writes;
    size_t bytes;
    limit_store store;
} limit_job;

/* Moves the bytes with the widest vectors of this processor, divided evenly among threads. */
void limit_move(const limit_job *job, int threads);

/* Does this machine have streaming stores? Without them LIMIT_STREAM is ordinary. */
bool limit_has_streaming(void);

#endif
