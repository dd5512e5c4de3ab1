/* The table of implementations. Users of the library cannot add to the table; this project's
 * programs may, before they start threads. SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Adds an implementation from outside the kernel folders; false: the table is full. */
bool nl_registry_add(const nl_impl *impl);

/* Is impl from the kernel folders? nl_best() chooses only such implementations. */
bool nl_is_own(const nl_impl *impl);

/* Is this the name of a peer (another library's layer)? nl_best() never chooses peers. */
bool nl_is_peer(const char *name);
