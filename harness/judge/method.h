/* By what method does an implementation seem to compute? Its errors on rows whose means are ever
 * farther from zero tell. SPDX-License-Identifier: MIT */
#ifndef NL_METHOD_H
#define NL_METHOD_H

#include "judge/growth.h"

/* The method, if it is none that its NL_IMPL promises; else NULL. */
const char *method_found(const nl_impl *impl, nl_op op);

#endif
