/* Verdicts by the bits they are about: many rungs compute the same ones, at both placements.
 * SPDX-License-Identifier: MIT */
#ifndef NL_KNOWN_H
#define NL_KNOWN_H

#include "verify/outputs.h"

enum { KNOWN_MAX = 32 };

typedef struct known_verdict {
    uint64_t hash;  /* of all arguments after the call */
    nl_impl traits; /* what the bound depends on, and nothing else */
    verdict v;
} known_verdict;

typedef struct known {
    size_t count; /* the oldest are overwritten */
    known_verdict last[KNOWN_MAX];
} known;

#endif
