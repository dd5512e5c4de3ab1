/* A judgement for people and for programs. SPDX-License-Identifier: MIT */
#ifndef NL_JUDGEMENT_H
#define NL_JUDGEMENT_H

#include "judge/judge.h"

#include <stdio.h>

void judgement_print(const judgement *j, const char *y_path, FILE *out);

/* One line for each mistake that was tried, after one for none. */
void judgement_csv(const judgement *j, FILE *out);

#endif
