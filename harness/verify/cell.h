/* A child process for work with code that is not trusted: it cannot write files, start programs or
 * reach the network, and nothing that it does to itself harms the parent.
 * SPDX-License-Identifier: MIT */
#ifndef NL_CELL_H
#define NL_CELL_H

#include <stdbool.h>
#include <stddef.h>

/* Memory of zeros in which the parent sees what the work leaves; NULL: out of memory. */
void *cell_memory(size_t bytes);

/* Runs work(context) in a child, which is ended if it says nothing for so many seconds. False: it
 * did not end by itself; why says what ended it. */
bool cell_run(void (*work)(void *context), void *context, double patience, char *why, size_t size);

/* In the child: the work gets on. */
void cell_alive(void);

/* In the child, before it calls kernels itself: from here on it can start no process either. */
void cell_close(void);

#endif
