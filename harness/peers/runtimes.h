/* SPDX-License-Identifier: MIT */
#ifndef NL_RUNTIMES_H
#define NL_RUNTIMES_H

#include <stdbool.h>

/* Does the process have one OpenMP runtime? Two disturb each other, and a note says that the peer,
 * which brought the second, is left out. */
bool one_openmp_runtime(const char *peer, void (*note)(const char *text));

#endif
