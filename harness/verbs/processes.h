/* Writes the rounds of a measurement, and repeats a measurement in a fresh process by reading its
 * file of rounds. The layout of code and buffers differs between processes and can shift a result
 * by several per cent. SPDX-License-Identifier: MIT */
#ifndef NL_PROCESSES_H
#define NL_PROCESSES_H

#include "timing/bench.h"
#include "verbs/case_options.h"

#include <stdio.h>

void rounds_heading(FILE *out);
void rounds_write(FILE *out, const bench_round *r);

/* Runs `normlab bench` on the case with the same options and reads its rounds of `arms` arms.
 * False: error says why. */
bool process_measure(const nl_case *c, const case_options *o, size_t arms, measure *out,
                     char *error, size_t error_size);

#endif
