/* Covering arrays of strength three: rows of one class a dimension in which any three classes that
 * can meet do. SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COVERING_DIMENSIONS = 32, COVERING_CLASSES = 128 };

/* The classes of all dimensions have numbers, those of dimension d first[d] to first[d + 1] - 1. */
typedef struct covering_table {
    size_t dimensions, first[COVERING_DIMENSIONS + 1];
    bool apart[COVERING_CLASSES][COVERING_CLASSES]; /* two that never meet */
    size_t factor[COVERING_CLASSES], most; /* nor do those whose product is more than most */
} covering_table;

/* Calls take with each row, a class for each dimension, until it returns false. Another stream of
 * random numbers makes other rows. False: take returned it, or out of memory. */
bool covering_make(const covering_table *t, uint64_t stream,
                   bool (*take)(void *context, const size_t *row), void *context);
