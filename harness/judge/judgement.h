/* Prints a judgement, as text and as CSV. SPDX-License-Identifier: MIT */
#pragma once

#include "judge/judge.h"

#include <stdio.h>

/* "right", "wrong" or "unjudged". */
const char *judgement_verdict(const judgement *j);

/* Writes number i of output o as "y[3, 1, 4]", by the shape of x, or "dgamma[7]". */
const char *judgement_number(const judgement *j, nl_arg o, size_t i, char text[256]);

void judgement_print(const judgement *j, const char *y_path, FILE *out);

/* One line without a mistake, then one for each mistake that was tested. */
void judgement_csv(const judgement *j, FILE *out);
