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

/* Reads whole rounds of these arms in this order, by one process. False: anything else is in it. */
bool rounds_read(FILE *f, const bench_round *arms, size_t count, measure *out);

/* Runs `normlab bench` on the case with the same options and reads its rounds of these arms.
 * False: error says why. */
bool process_measure(const nl_case *c, const case_options *o, const bench_round *arms, size_t count,
                     measure *out, char *error, size_t error_size);

/* Runs this very program, even when another was built meanwhile; its words are shown or not. Returns
 * its exit code, or -1. */
int process_run(char **argv, bool shows);

/* How this program was called: argv[0]. */
extern const char *process_program;

#endif
