/* The built-in suite of `normlab check`: every width, a covering array of all that a case may vary,
 * cases that a seed draws, and sizes on both sides of every threshold that an implementation or the
 * choice between them publishes.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case_list.h"

#include <stdint.h>

/* The number of cases that a check draws. */
enum { DRAWN = 1500, DRAWN_LARGE = 400 };

/* For all implementations; for a few, with larger cases; also with long ones: 10^6 rows, 2^20
 * features, outputs past the caches. */
typedef enum suite_depth { SUITE_FOR_ALL, SUITE_FOR_FEW, SUITE_LONG } suite_depth;

/* Adds the suite's cases and the museum's. */
bool suite_cases(case_list *list, suite_depth depth, uint64_t seed, char *error, size_t error_size);

/* The short suite: the first cases for every implementation, from the simplest to the hardest. */

/* A group of cases of one subject; NULL past the last. */
const char *short_suite_subject(size_t group);

/* Adds the cases of the group that the implementation accepts: there may be none. */
bool short_suite_add(size_t group, const nl_impl *impl, case_list *list, char *error,
                     size_t error_size);
