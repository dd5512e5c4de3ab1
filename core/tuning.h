/* The thresholds of best.c. The defaults suit any machine; `normlab tune` measures thresholds for
 * one machine. SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

#include <stdio.h>

typedef struct nl_tuning {
    size_t stream_bytes;    /* a thread's output of at least this size bypasses the caches */
    size_t stream_backward; /* the same threshold for dx in f32 */
    size_t stream_batch;    /* the same threshold for BatchNorm's training and backward */
    size_t fork_forward;    /* elements from which threads may pay: forward and inference */
    size_t fork_backward;   /* threads may pay: backward of the row norms */
    size_t fork_batch;      /* threads may pay: BatchNorm's training and backward */
} nl_tuning;

/* The default fork thresholds, in elements. Above them, fork.h measures whether threads pay. But
 * backward's threaded rung divides the rows into short runs, slow on one thread. So its threshold
 * is a size at which threads certainly pay, four times higher if threads sleep between calls. */
enum { NL_FORK_FORWARD = 32768, NL_FORK_BACKWARD = 262144, NL_FORK_BATCH = 262144 };

/* The defaults, overridden by the file that the environment variable NL_TUNING names; read once. If
 * the file cannot be used, nl_message() reports that. */
const nl_tuning *nl_tuning_now(void);

/* Bytes of a core's own caches (first level: data only) and of the third level; if unknown, 32 KiB,
 * 1 MiB and 16 MiB. */
typedef struct nl_caches {
    size_t first, second;
    size_t last; /* limited to 8..64 MiB: many cores share a larger cache */
    bool is_far; /* the third level exceeds 64 MiB: many cores share it, nearly as slow as memory */
} nl_caches;

/* Reads the sizes once, since asking the system takes microseconds. */
const nl_caches *nl_caches_now(void);

/* Writes one line: "defaults", or "NL_TUNING" if its file is used, and the numbers. */
void nl_tuning_describe(char *text, size_t size);

/* Reads the file that NL_TUNING names, if any, into *out. False: an error, which `why` explains. */
bool nl_tuning_check(nl_tuning *out, char *why, size_t why_size);

/* Replaces the tuning. Call before any computation starts. */
void nl_tuning_use(const nl_tuning *t);

/* Reads "key value" lines into the fields they name. Returns 0, the number of the first wrong line
 * (of the last line if there is no key), or -1 with errno set if the file cannot be read. */
int nl_tuning_read(const char *path, nl_tuning *out);
bool nl_tuning_write(FILE *out, const nl_tuning *t);
