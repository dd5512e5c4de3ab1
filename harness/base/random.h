/* Random numbers that depend on (stream, index) alone and come out the same everywhere.
 * Philox4x32-10: Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
 * SPDX-License-Identifier: MIT */
#ifndef NL_RANDOM_H
#define NL_RANDOM_H

#include <stdint.h>

/* Four words for the counter. */
void random_words(uint64_t stream, uint64_t index, uint32_t out[4]);

/* In (0, 1), 32 bits of it; and standard normal, by inverting its distribution function with +, -,
 * *, / and sqrt alone, to about 1e-9. */
double random_uniform(uint64_t stream, uint64_t index);
double random_normal(uint64_t stream, uint64_t index);

#endif
