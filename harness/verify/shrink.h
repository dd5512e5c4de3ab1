/* The smallest case on which an implementation still fails. SPDX-License-Identifier: MIT */
#ifndef NL_SHRINK_H
#define NL_SHRINK_H

#include "verify/verify.h"

/* impl failed on *c with *v. Tries smaller sizes, ordinary data and fewer options, for a few
 * seconds at most, and keeps in *c and *v the smallest case that fails in the same way. False: none
 * is smaller. */
bool shrink(nl_case *c, verdict *v, const nl_impl *impl, int threads);

#endif
