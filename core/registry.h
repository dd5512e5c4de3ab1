/* The table of implementations. Users of the library cannot add to it; the project's own programs
 * may, before they start threads. SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Adds an implementation from outside the kernel folders; false when full. */
bool nl_registry_add(const nl_impl *impl);

/* Is impl from the kernel folders, and not added? nl_best() chooses only among these. */
bool nl_is_own(const nl_impl *impl);

/* Is this the name of a peer (another library's layer)? Peers run only if they are named. */
bool nl_is_peer(const char *name);
