/* Prints the comparison of two result files, as a table or as CSV. SPDX-License-Identifier: MIT */
#pragma once

#include "results/results.h"

typedef struct sheet_style {
    double margin; /* a log ratio */
    bool csv, colour;
} sheet_style;

/* Counts rows by outcome, over several sheets. */
typedef struct tally {
    size_t verdicts[NOT_RESOLVED + 1], refused, no_band;
} tally;

void sheet_heading(void); /* of CSV */
void sheet_print(const char *name, const results file[2], bool shares, const sheet_style *style,
                 tally *total);
