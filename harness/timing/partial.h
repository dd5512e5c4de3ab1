/* pRMSNorm of Zhang & Sennrich 2019: RMSNorm whose statistics come from the first features of a row
 * alone, here 1/16 = 6.25 %, as in most of their tables. It is another function than RMSNorm, so it
 * is no line of the table of implementations; who asks for it here judges it by its own formula.
 * SPDX-License-Identifier: MIT */
#ifndef NL_PARTIAL_H
#define NL_PARTIAL_H

#include "verify/verify.h"

extern const nl_impl partial_impl;

/* Features that a row of c is judged by: c / 16, at least one. */
size_t partial_features(size_t c);

/* What it should give: RMSNorm's answer with the root taken over those features. */
bool partial_answer(const nl_case *c, nl_data *data, answer *out);

#endif
