/* The races that claims rest on, measured by this process, by passes in other processes, or in
 * frameworks, and pooled. SPDX-License-Identifier: MIT */
#pragma once

#include "claims/claim.h"

#include <stdint.h>
#include <stdio.h>

/* A pass that begins SITTING_S seconds or more after the one before belongs to another sitting:
 * hours differ more than minutes. */
enum { SITTING_S = 900 };

/* One race in one process: its result, or why there is none. */
typedef struct race_row {
    char how[32], tail[200], why[300];
    bool ok;
    double ratio, low, high, aa, band; /* logarithms; aa: NaN if only its band is known */
    size_t rounds;
    size_t pass; /* rows of one pass share it */
    double when; /* start of the pass, in seconds; 0: not known */
} race_row;

typedef struct evidence {
    race_row *rows;
    size_t count, passes, sittings;
    double hours;     /* from the first pass to the last */
    char kernels[64]; /* a hash of the kernels that ran; "": those of this process */
    char caches[256]; /* where the passes ran; "": on this machine */
    /* Passes left out: unfinished; on other kernels; on another machine; copies of others;
     * damaged, the last as fault says. */
    size_t torn, strange, elsewhere, copies, damaged;
    char fault[700];
} evidence;

/* False: out of memory. */
bool evidence_add(evidence *e, const race_row *row);
void evidence_free(evidence *e);

/* Writes rows as CSV. */
void evidence_heading(FILE *out);
void evidence_write(FILE *out, const race_row *row);

/* Adds the races of a file as one pass: a pass's file, or one of `python -m normlab.frameworks`.
 * False: error says what is wrong with the file. */
bool evidence_read(evidence *e, const char *path, char *error, size_t error_size);

/* Closes a pass: appends to machine.txt the checksum of races.csv and of the facts about the pass. A
 * pass that differs from its checksum is damaged. */
bool evidence_seal(const char *folder);

/* Adds the passes of a folder, FOLDER/PASS/races.csv with machine.txt beside it, with or without
 * --quick, on these kernels and the machine of the latest of them; kernels NULL: its kernels, too.
 * Leaves out copies, and passes that are damaged. */
void evidence_read_folder(evidence *e, const char *folder, bool quick, const char *kernels);

/* The rows of a race, in order of time, of the passes selected by `uses` (NULL: all). Returns how
 * many. */
size_t evidence_rows(const evidence *e, const bool *uses, const char *how, const char *tail,
                     const race_row *rows[PASSES_MAX]);

/* Do two rows in order of time have a pause between them? */
bool evidence_apart(const race_row *earlier, const race_row *later);

/* Sets the figures and verdicts of a claim's timed settings, from the passes selected by `uses`
 * (NULL: all). A setting without a race keeps its why. */
void evidence_decide(const evidence *e, const bool *uses, claim *c);

/* How stable are the answers? Draws three passes repeatedly, and compares their answers with those
 * of the other passes. */
typedef struct stability {
    size_t draws, rest;      /* draws of three passes; the number of the other passes */
    double contradicted_pct; /* the share of intervals that the other passes contradict */
    size_t answers, differ;  /* claims that both sides decide; those decided differently */
} stability;

/* Writes a table of the races. False: out of memory, or fewer than twice
 * PASSES_ENOUGH passes. */
bool stability_write(FILE *out, const evidence *e, claim *claims, size_t count, stability *found);

/* Standard deviations of the log of a ratio: between the rounds of a process, the passes of a
 * sitting, the sittings, and all passes. NaN: too few. */
typedef struct noise {
    double rounds, passes, sittings, all;
} noise;

/* The medians of the noise over the races; does not set `all`. */
noise noise_of(const evidence *e);

typedef struct claims_job {
    claim *claims; /* figures and verdicts are written into their settings */
    size_t count;
    double seconds; /* of timing for each candidate of a race */
    uint64_t seed;  /* of the order of races, and of the candidates in each */
    bool quick;     /* skip large cases */
    void (*progress)(size_t done, size_t total, const char *what);
    void (*failed)(const claim *c, const setting *s);
    evidence evidence; /* races are added to it */
    /* Results. */
    size_t settings_measured, settings_failed;
} claims_job;

/* Runs each race that the claims need once. False: out of memory. */
bool claims_race(claims_job *j);

/* Computes the quantities that are not timed, and decides all settings, timed ones by the
 * evidence. */
void claims_decide(claims_job *j);
