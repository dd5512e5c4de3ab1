/* The rounds of a measurement as a file, and the same measurement in a fresh process, whose rounds are
 * read back from its file: where code and buffers come to lie differs from process to process, and can
 * shift a result by percents. SPDX-License-Identifier: MIT */
#ifndef NL_PROCESSES_H
#define NL_PROCESSES_H

#include "timing/bench.h"
#include "verbs/case_options.h"

#include <stdio.h>

void rounds_heading(FILE *out);
void rounds_write(FILE *out, const bench_round *r);

/* Runs `normlab bench` on the case with the same options, and gives back its rounds of `arms` arms.
 * False: error says why. */
bool process_measure(const nl_case *c, const case_options *o, size_t arms, measure *out,
                     char *error, size_t error_size);

#endif
