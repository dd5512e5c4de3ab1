/* Do a row's y and dx have the same bits in every batch? SPDX-License-Identifier: MIT */
#pragma once

#include "verify/pair.h"

/* Can the case show it? It has several rows of random numbers, one behind the other, each normalized by
 * itself, and a call overwrites none of them. */
bool batch_shows(const nl_case *c);

/* In the process of the kernel, after its call: computes parts of the batch again, alone and with fewer
 * neighbours, in other places, on one thread, with other stores. `how` describes the first number with
 * other bits; "": there is none. */
void batch_compare(const pair_call *s, char *how, size_t size);
