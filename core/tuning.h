/* The numbers that best.c decides by. The defaults are for any machine; `normlab tune` measures
 * this one. SPDX-License-Identifier: MIT */
#ifndef NL_TUNING_H
#define NL_TUNING_H

#include "normlab.h"

#include <stdio.h>

typedef struct nl_tuning {
    size_t stream_bytes;  /* outputs of at least so many bytes a thread go past the caches */
    size_t fork_forward;  /* elements from which threads pay, forward and inference */
    size_t fork_backward; /* and backward */
} nl_tuning;

/* Read once: the defaults, and over them the file that the environment's NL_TUNING names. */
const nl_tuning *nl_tuning_now(void);

/* Replaces the tuning. Call before any computation starts. */
void nl_tuning_use(const nl_tuning *t);

/* Reads "key value" lines into the fields they name. 0; or the number of the first line that is not
 * that; or -1: the file cannot be read, and errno says why. */
int nl_tuning_read(const char *path, nl_tuning *out);
bool nl_tuning_write(FILE *out, const nl_tuning *t);

#endif
