/* The built-in suite of `normlab check`: every width, a covering array of all dimensions, cases
 * drawn from a seed, and sizes on both sides of every threshold that an implementation or nl_best()
 * publishes. SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of cases that a check draws. */
enum { DRAWN = 2100, DRAWN_LARGE = 560 };

/* SUITE_FOR_ALL: quick enough for all implementations. SUITE_FOR_FEW: also larger cases.
 * SUITE_LONG: also slow cases: 10^6 rows, 2^20 features, outputs that bypass the caches. */
typedef enum suite_depth { SUITE_FOR_ALL, SUITE_FOR_FEW, SUITE_LONG } suite_depth;

/* Adds the cases of the suite and of the museum. */
bool suite_cases(case_list *list, suite_depth depth, uint64_t seed, char *error, size_t error_size);

/* Name of group i of the short suite's cases; NULL past the last group. The short suite has the
 * cases to try first, from the simplest to the hardest. */
const char *short_suite_subject(size_t group);

/* Adds the group's cases that the implementation accepts, which may be none. */
bool short_suite_add(size_t group, const nl_impl *impl, case_list *list, char *error,
                     size_t error_size);

/* Layers and passes whose cases vary in the same dimensions (dimensions.inc). */
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

/* Adds the cases of each row of a covering array, in which any three compatible classes meet. The
 * rows, and the values within a class, depend on the seed. */
bool covering_cases(case_list *list, uint64_t seed, char *error, size_t error_size);

/* Adds rows without strides in which, for each row norm and type, any two compatible classes meet.
 * covering_cases() only ensures that each single class occurs in such rows. */
bool contiguous_cases(case_list *list, uint64_t seed, char *error, size_t error_size);

/* Adds the seed's case number `index`: each dimension gets a random class, often the default. */
bool drawn_case(case_list *list, uint64_t seed, uint64_t index, char *error, size_t error_size);

/* As drawn_case(), but with one large size, about 2^15 to 2^18 elements in all, and no values that
 * hide errors. So options meet sizes from which kernels take other branches. */
bool large_case(case_list *list, uint64_t seed, uint64_t index, char *error, size_t error_size);

/* The widths of models. */
#define MODELS                                                                                   \
    "{768,1024,1152,1280,1536,1600,2048,2304,2560,2880,3072,3584,4096,4608,5120,6144,7168,8192," \
    "11008,12288,14336,16384}"

/* Combines each model's width (BatchNorm: each image shape) with every class that is not its
 * dimension's first and hides no errors, since a kernel may treat such a pair specially. Draws the
 * classes of the other dimensions. Also draws models' widths with 192 rows or more. */
bool model_cases(case_list *list, uint64_t seed, char *error, size_t error_size);

/* A covering array of strength three. A row has one class of each dimension. Any three compatible
 * classes meet in a row. */

enum { COVERING_DIMENSIONS = 32, COVERING_CLASSES = 128 };

/* Classes are numbered over all dimensions: d has the classes first[d] to first[d + 1] - 1. */
typedef struct covering_table {
    size_t dimensions, first[COVERING_DIMENSIONS + 1];
    bool apart[COVERING_CLASSES][COVERING_CLASSES]; /* pairs of classes that must not meet */
    size_t factor[COVERING_CLASSES], most;          /* the product of a row's factors is at most
                                                     * `most` */
    unsigned with; /* bits of dimensions: cover only triples that have all of them */
} covering_table;

/* Calls take with each row (a class for each dimension) until take returns false. The rows depend
 * on the stream of random numbers. False: take returned false, or out of memory. */
bool covering_make(const covering_table *t, uint64_t stream,
                   bool (*take)(void *context, const size_t *row), void *context);

/* Finds what all failing cases have in common and other cases lack. */
typedef enum case_state { CASE_NOT_RUN, CASE_RIGHT, CASE_FAILED } case_state;

/* Writes, for example, "all 12 have residual and c >= 8193; of such cases 12 of 13 fail". Empty if
 * fewer than three fail, or if no feature separates the failing cases. */
void when_text(const nl_case *cases, const unsigned char *states, size_t count, char *text,
               size_t size);
