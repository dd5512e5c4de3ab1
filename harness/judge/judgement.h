/* Prints a judgement, as text and as CSV. SPDX-License-Identifier: MIT */
#pragma once

#include "judge/judge.h"

#include <stdio.h>

/* "right", "wrong" or "unjudged". */
const char *judgement_verdict(const judgement *j);

void judgement_print(const judgement *j, const char *y_path, FILE *out);

/* One line without a mistake, then one for each mistake that was tested. */
void judgement_csv(const judgement *j, FILE *out);
