/* The table is closed for the library's users; the project's own programs may add to it, before they
 * start threads. SPDX-License-Identifier: MIT */
#ifndef NL_REGISTRY_H
#define NL_REGISTRY_H

#include "normlab.h"

/* Adds an implementation that the build did not find in the kernel folders; false when full. */
bool nl_registry_add(const nl_impl *impl);

/* Is it the name of another library's layer? Those take part only where they are asked for. */
bool nl_is_peer(const char *name);

#endif
