/* pRMSNorm of Zhang & Sennrich 2019: RMSNorm whose statistics come from the first features of a row
 * alone, here 1/16 = 6.25 %, as in most of their tables. Because it is another function than
 * RMSNorm, it is not in the table of implementations and has its own answer.
 * SPDX-License-Identifier: MIT */
#ifndef NL_PARTIAL_H
#define NL_PARTIAL_H

#include "verify/verify.h"

extern const nl_impl partial_impl;

/* The number of features that the statistics read: c / 16, at least one. */
size_t partial_features(size_t c);

/* Its answer: RMSNorm's, with the mean square of those features. */
bool partial_answer(const nl_case *c, nl_data *data, answer *out);

#endif
