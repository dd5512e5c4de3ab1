/* The machine's other limit: multiply-adds, with nothing to load or store.
 * SPDX-License-Identifier: MIT */
#ifndef NL_PEAK_H
#define NL_PEAK_H

#include <stddef.h>

enum { PEAK_CHAINS = 12 }; /* with two constants they fit 16 registers */

/* One for each ISA of this build. run() makes `steps` multiply-adds of vectors in each of 1, 2, 4,
 * 8 or PEAK_CHAINS chains of dependent operations, and returns the flops. */
typedef struct peak_way {
    const char *isa;
    double (*run)(size_t steps, int chains);
} peak_way;

extern const peak_way peak_ways[];
extern const size_t peak_count;

#endif
