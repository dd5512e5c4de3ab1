/* Finds the method of an implementation by its errors on rows whose means are ever farther from
 * zero. SPDX-License-Identifier: MIT */
#ifndef NL_METHOD_H
#define NL_METHOD_H

#include "judge/growth.h"

/* The method, if its NL_IMPL promises a better one; else NULL. */
const char *method_found(const nl_impl *impl, nl_op op);

#endif
