/* The smallest case on which an implementation still fails. SPDX-License-Identifier: MIT */
#ifndef NL_SHRINK_H
#define NL_SHRINK_H

#include "verify/verify.h"

/* *c is where impl failed as *v says. Tries smaller sizes, ordinary data and fewer options, for a
 * few seconds at most; replaces *c and *v as long as it fails in a like way. False: nothing smaller
 * was found. */
bool shrink(nl_case *c, verdict *v, const nl_impl *impl, int threads);

#endif
