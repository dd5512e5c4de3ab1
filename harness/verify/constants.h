/* The problem and the argument structure of a call, in memory that a kernel cannot write.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

#include <stdbool.h>

/* Makes *impl call its kernel with a read-only copy of the problem and the arguments; only one call
 * at a time. Returns the copies; NULL: out of memory. */
char *constants_guard(nl_impl *impl);

/* The implementation as it was before constants_guard(). Concurrent calls use it, because they
 * cannot share the copies. */
const nl_impl *constants_unguarded(void);

/* Is the address in the copies? Then writes the field's name: "n of its problem". */
bool constants_name(nl_pass pass, const char *copies, const char *address, char *text, size_t size);
