/* The machine's other limit: multiply-adds, with nothing to load or store. For each ISA of this build
 * double peak_ISA(size_t steps, int chains) makes `steps` multiply-adds of vectors in each of 1, 2, 4,
 * 8 or PEAK_CHAINS chains of dependent operations, and returns the flops. SPDX-License-Identifier: MIT */
#ifndef NL_PEAK_H
#define NL_PEAK_H

#include <stddef.h>

enum { PEAK_CHAINS = 12 }; /* with two constants they fit 16 registers */

#endif
