/* The built-in suite of `normlab check`: every layer, pass, type and kind of data.
 * SPDX-License-Identifier: MIT */
#ifndef NL_SUITE_H
#define NL_SUITE_H

#include "cases/case_list.h"

/* Adds its cases, with the museum's. */
bool suite_cases(case_list *list, char *error, size_t error_size);

#endif
