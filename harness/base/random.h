/* Random numbers that depend only on seed, stream and index, and are equal on every machine.
 * Philox4x32-10: Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* Seeds the generator; the default is 0. */
void random_seed(uint64_t number);

/* Four random words for the counter (stream, index). */
void random_words(uint64_t stream, uint64_t index, uint32_t out[4]);

/* Random numbers: uniform in (0, 1), with 32 random bits; or standard normal, by the inverse of the
 * distribution function. Normal numbers use only + - * /, sqrt, frexp; the error is about 1e-9. */
double random_uniform(uint64_t stream, uint64_t index);
double random_normal(uint64_t stream, uint64_t index);

/* Caches the stream's first `count` normal numbers, up to a limit. Do not call this while
 * another thread draws numbers. */
void random_keep(uint64_t stream, uint64_t count);
