/* The races that claims rest on, measured by this process, by passes in others, or in frameworks,
 * pooled at the highest level of which there is more than one. SPDX-License-Identifier: MIT */
#ifndef NL_EVIDENCE_H
#define NL_EVIDENCE_H

#include "claims/claim.h"

#include <stdio.h>

/* A pass that begins so many seconds after the one before, or later, is of another sitting: what lies
 * between hours differs more than what lies between minutes. */
enum { SITTING_S = 900 };

/* One race in one process: as race_result, or why there is none. */
typedef struct race_row {
    char how[32], tail[200], why[300];
    bool ok;
    double ratio, low, high, aa, band; /* logarithms; aa: NaN where only its band is known */
    size_t rounds;
    size_t pass; /* rows of one pass share it */
    double when; /* the pass, in seconds; 0: not known */
} race_row;

typedef struct evidence {
    race_row *rows;
    size_t count, passes, sittings;
    double hours;         /* from the first pass to the last */
    char kernels[64];     /* a hash of what they ran on, "": of this process */
    size_t torn, strange; /* passes left out: unfinished, or on other kernels */
} evidence;

/* False: out of memory. */
bool evidence_add(evidence *e, const race_row *row);
void evidence_free(evidence *e);

/* Writes rows as CSV. */
void evidence_heading(FILE *out);
void evidence_write(FILE *out, const race_row *row);

/* Adds the races of a file as one pass: of `python -m normlab.frameworks --out`, or of a pass. False:
 * error says what is wrong with the file. */
bool evidence_read(evidence *e, const char *path, char *error, size_t error_size);

/* Adds the passes of a folder, with --quick or without, that ran on these kernels; NULL: on those of its
 * latest one. FOLDER/PASS/races.csv with machine.txt beside it. */
bool evidence_read_folder(evidence *e, const char *folder, bool quick, const char *kernels,
                          char *error, size_t error_size);

/* Gives the timed settings of a claim their figures and verdicts, from passes that `uses` names, or
 * all; those without a race keep their why. */
void evidence_decide(const evidence *e, const bool *uses, claim *c);

#endif
