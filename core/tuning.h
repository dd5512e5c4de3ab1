/* The thresholds of best.c. The defaults are for any machine; `normlab tune` measures this one.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

#include <stdio.h>

typedef struct nl_tuning {
    size_t stream_bytes;    /* a thread's output of at least so many bytes bypasses the caches */
    size_t stream_backward; /* the same of backward's dx in f32 */
    size_t stream_batch;    /* and in BatchNorm's training and backward */
    size_t fork_forward;    /* elements from which threads may pay, in forward and inference */
    size_t fork_backward;   /* in backward */
    size_t fork_batch; /* in BatchNorm's training and backward, which wake threads more than once */
} nl_tuning;

/* The default sizes to fork from. The threaded rung of backward is slower on one thread than the
 * others, for its runs are short, so it is chosen from where threads surely pay: four times as much
 * where they sleep. For all others fork.h decides. */
enum { NL_FORK_FORWARD = 32768, NL_FORK_BACKWARD = 262144, NL_FORK_BATCH = 262144 };

/* Read once: the defaults, and over them the file that the environment's NL_TUNING names; where
 * that cannot be used, nl_message() says so. */
const nl_tuning *nl_tuning_now(void);

/* Bytes of a core's own caches, the first level's for data, and of the third level; where unknown,
 * 32 KiB, 1 MiB and 16 MiB. */
typedef struct nl_caches {
    size_t first, second;
    size_t last; /* from 8 to 64 MiB, since a larger one is shared with others */
    bool is_far; /* the third level is larger: so many cores share it that its lines come from
                    nearly as far as memory's */
} nl_caches;

/* Read once: asking the system takes microseconds. */
const nl_caches *nl_caches_now(void);

/* In a line: "defaults", or "NL_TUNING" for its file, and the numbers. */
void nl_tuning_describe(char *text, size_t size);

/* Reads NL_TUNING's file, if any, over *out. False: why says what is wrong with it. */
bool nl_tuning_check(nl_tuning *out, char *why, size_t why_size);

/* Replaces the tuning. Call before any computation starts. */
void nl_tuning_use(const nl_tuning *t);

/* Reads "key value" lines into the fields they name. Returns 0; the number of the first wrong line,
 * or of the last if there is no key; or -1 with errno set if the file cannot be read. */
int nl_tuning_read(const char *path, nl_tuning *out);
bool nl_tuning_write(FILE *out, const nl_tuning *t);
