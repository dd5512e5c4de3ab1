/* The built-in suite of `normlab check`: every layer, pass, type and kind of data, and sizes on
 * both sides of every threshold that an implementation or the choice between them publishes.
 * SPDX-License-Identifier: MIT */
#ifndef NL_SUITE_H
#define NL_SUITE_H

#include "cases/case_list.h"

/* Adds its cases, with the museum's; also the long ones: 10^6 rows, 2^20 features, outputs past the
 * caches. */
bool suite_cases(case_list *list, bool also_long, char *error, size_t error_size);

#endif
