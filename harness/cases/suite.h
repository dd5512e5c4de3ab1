/* The built-in suite of `normlab check`: every width, a covering array of all that a case may vary,
 * cases that a seed draws, and sizes on both sides of every threshold that an implementation or the
 * choice between them publishes.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of cases that a check draws. */
enum { DRAWN = 2100, DRAWN_LARGE = 560 };

/* SUITE_FOR_ALL: quick enough for all implementations. SUITE_FOR_FEW: with larger cases.
 * SUITE_LONG: also with long ones: 10^6 rows, 2^20 features, outputs past the caches. */
typedef enum suite_depth { SUITE_FOR_ALL, SUITE_FOR_FEW, SUITE_LONG } suite_depth;

/* Adds the suite's cases and the museum's. */
bool suite_cases(case_list *list, suite_depth depth, uint64_t seed, char *error, size_t error_size);

/* A group of cases of the short suite, of one subject; NULL past the last. The short suite has the
 * first cases for every implementation, from the simplest to the hardest. */
const char *short_suite_subject(size_t group);

/* Adds the cases of the group that the implementation accepts: there may be none. */
bool short_suite_add(size_t group, const nl_impl *impl, case_list *list, char *error,
                     size_t error_size);

/* The layers and passes that share their dimensions. A dimension is what a case may vary; it has
 * classes (dimensions.inc). */
typedef enum family {
    FAMILY_ROW_FORWARD,
    FAMILY_ROW_BACKWARD,
    FAMILY_BATCH_FORWARD,
    FAMILY_BATCH_BACKWARD,
    FAMILY_INFERENCE,
    FAMILY_GATED_FORWARD,
    FAMILY_GATED_BACKWARD,
    FAMILIES
} family;

/* Adds a case for each row of a covering array, where any three classes that can meet
 * do. The rows, and the values within a class, depend on the seed. */
bool covering_cases(case_list *list, uint64_t seed, char *error, size_t error_size);

/* Adds the seed's case number `index`: each dimension gets a random class, often the default. */
bool drawn_case(case_list *list, uint64_t seed, uint64_t index, char *error, size_t error_size);

/* As drawn_case(), but with one large size, 2^15 to 2^19 elements in all, and no values that hide
 * errors: options meet the sizes from which kernels take other branches. */
bool large_case(case_list *list, uint64_t seed, uint64_t index, char *error, size_t error_size);

/* The widths of models. */
#define MODELS                                                                                   \
    "{768,1024,1152,1280,1536,1600,2048,2304,2560,2880,3072,3584,4096,4608,5120,6144,7168,8192," \
    "11008,12288,14336,16384}"

/* Adds each width of a model, and for BatchNorm each picture, with every class of every dimension,
 * since a kernel may be special-cased for one such pair. The other dimensions are drawn. */
bool model_cases(case_list *list, uint64_t seed, char *error, size_t error_size);

/* Covering arrays of strength three: rows of one class a dimension in which any three classes that
 * can meet do. */

enum { COVERING_DIMENSIONS = 32, COVERING_CLASSES = 128 };

/* The classes of all dimensions have numbers, those of dimension d first[d] to first[d + 1] - 1. */
typedef struct covering_table {
    size_t dimensions, first[COVERING_DIMENSIONS + 1];
    bool apart[COVERING_CLASSES][COVERING_CLASSES]; /* pairs that never meet */
    size_t factor[COVERING_CLASSES], most;          /* in a row their product is at most `most` */
} covering_table;

/* Calls take with each row, which has a class for each dimension, until take returns false. The
 * rows depend on the stream of random numbers. False: take returned false, or out of memory. */
bool covering_make(const covering_table *t, uint64_t stream,
                   bool (*take)(void *context, const size_t *row), void *context);

/* What all failing cases have in common and other cases lack, from how each case ended. */
typedef enum case_state { CASE_NOT_RUN, CASE_RIGHT, CASE_FAILED } case_state;

/* "all 12 have residual and c >= 8193, of which 12 of 13 fail"; empty if fewer than three fail, or
 * nothing tells them from the others. */
void when_text(const nl_case *cases, const unsigned char *states, size_t count, char *text,
               size_t size);
