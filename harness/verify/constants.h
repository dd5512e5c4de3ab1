/* The problem and the argument structure of a call, in memory that a kernel cannot write.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Makes *impl call its kernel with a read-only copy of the problem and the arguments; only one call
 * at a time. Returns the copies; NULL: out of memory. */
char *constants_guard(nl_impl *impl);

/* The implementation as it was before constants_guard(). Concurrent calls use it, because they
 * cannot share the copies. */
const nl_impl *constants_unguarded(void);

/* Returns "problem" or "arguments" if the address is in that copy, otherwise NULL. */
const char *constants_name(const char *copies, const char *address);
