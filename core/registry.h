/* Users of the library cannot add to the table; the project's own programs may, before they start
 * threads. SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Adds an implementation from outside the kernel folders; false when full. */
bool nl_registry_add(const nl_impl *impl);

/* Is it of the kernel folders, and not added? nl_best() chooses only among these. */
bool nl_is_own(const nl_impl *impl);

/* Is it the name of a peer? Peers take part only where they are named. */
bool nl_is_peer(const char *name);
