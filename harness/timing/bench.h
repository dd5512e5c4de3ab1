/* Timing the implementations of one case. SPDX-License-Identifier: MIT */
#ifndef NL_BENCH_H
#define NL_BENCH_H

#include "verbs/options.h"
#include "verbs/report.h"

#include <signal.h>

typedef struct bench_counts {
    size_t timed, failed;
} bench_counts;

/* Set by Ctrl-C: the round under way is finished, and what was measured is kept. */
extern volatile sig_atomic_t bench_interrupted;

void bench_on_interrupt(int signal_number);

/* Verifies, times and verifies again; a row each into `out`, every round into `rounds` (or NULL).
 * False: bad input or no memory, explained on stderr. */
bool bench_case(const nl_case *c, const options *o, report *out, FILE *rounds,
                bench_counts *counts);

#endif
