/* The short suite: the first cases for every implementation, from the simplest to the hardest.
 * SPDX-License-Identifier: MIT */
#ifndef NL_SHORT_SUITE_H
#define NL_SHORT_SUITE_H

#include "cases/case_list.h"

/* A group of cases of one subject; NULL past the last. */
const char *short_suite_subject(size_t group);

/* Adds the cases of the group that the implementation accepts: there may be none. */
bool short_suite_add(size_t group, const nl_impl *impl, case_list *list, char *error,
                     size_t error_size);

#endif
