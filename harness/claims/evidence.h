/* The races that support claims: measured by this process, by passes in other processes, or in
 * frameworks, and pooled. SPDX-License-Identifier: MIT */
#pragma once

#include "claims/claim.h"

#include <stdint.h>
#include <stdio.h>

/* A pass that ends more than SITTING_S seconds after the end of the previous pass starts a new
 * sitting: times differ more between hours than between minutes. */
enum { SITTING_S = 900 };

/* One race in one process: its result, or the reason why there is none. */
typedef struct race_row {
    char how[32], tail[200], why[300];
    bool ok;
    double ratio, low, high, aa, band; /* logarithms. aa: a over itself; NaN: not known */
    size_t rounds, visits;             /* visits: 1 in files of older versions */
    size_t pass;                       /* number of the pass, equal in all its rows */
    double when;                       /* end of the pass, in seconds; 0: not known */
} race_row;

typedef struct evidence {
    race_row *rows;
    size_t count, passes, sittings;
    double hours;     /* from the first pass to the last */
    char kernels[64]; /* a hash of the kernels that ran; "": the kernels of this process */
    char caches[256]; /* caches of the passes' machine; "": this machine */
    /* Counts of passes left out: unfinished; on other kernels or with another --quick; with another
     * machine, thread count or ISA; copies of other passes; damaged (fault: of the last one). */
    size_t torn, strange, elsewhere, copies, damaged;
    char fault[700];
} evidence;

/* A pass visits a race up to VISITS times, at different moments, since other work on the core slows
 * two loops differently for seconds. */
enum { VISITS = 4 };

/* The row of a race. A visit is used if the geometric mean of both times, in its quiet rounds, is
 * at most QUIET_WITHIN times the least such mean. The ratio is the mean over the used visits; its
 * interval is Student's or, for one or two used visits, contains their intervals over rounds. If
 * there is one visit, the ratio is the median over all its rounds. */
race_row race_row_of(const race_result *visits, size_t count);

/* False: out of memory. */
bool evidence_add(evidence *e, const race_row *row);
void evidence_free(evidence *e);

void evidence_heading(FILE *out);
void evidence_write(FILE *out, const race_row *row);

/* Adds the races of a file as one pass. A pass or `python -m normlab.frameworks` wrote the file.
 * False: `error` describes the fault of the file. */
bool evidence_read(evidence *e, const char *path, char *error, size_t error_size);

/* Closes a pass: appends to machine.txt the checksum of races.csv and of the facts about the pass.
 * A pass that differs from its checksum is damaged. */
bool evidence_seal(const char *folder);

/* Adds the passes of a folder (FOLDER/PASS/races.csv with machine.txt beside it). A pass must have
 * this setting of --quick, these kernels (NULL: the latest pass's) and the latest pass's machine.
 * Leaves out copies and damaged passes. */
void evidence_read_folder(evidence *e, const char *folder, bool quick, const char *kernels);

/* The last PASSES_MAX rows of a race in the passes that `uses` selects (NULL: all), in order of
 * time. Returns their number. */
size_t evidence_rows(const evidence *e, const bool *uses, const char *how, const char *tail,
                     const race_row *rows[PASSES_MAX]);

/* Do two rows, in order of time, belong to different sittings? */
bool evidence_apart(const race_row *earlier, const race_row *later);

/* Sets the figures and verdicts of a claim's timed settings, from the passes selected by `uses`
 * (NULL: all). A setting without a race keeps its `why`. If PASSES_ENOUGH passes visited a race
 * several times, the figure ignores the other passes. */
void evidence_decide(const evidence *e, const bool *uses, claim *c);

/* How stable are the answers? Repeatedly draws three passes, and compares their answers with the
 * answers of all other passes. */
typedef struct stability {
    size_t draws, rest;      /* draws of three passes; number of other passes */
    double contradicted_pct; /* the share of intervals that the other passes contradict */
    size_t answers, differ;  /* comparisons of answers, in all draws; those that differ */
} stability;

/* Writes a table of the races. False: out of memory, or fewer than twice
 * PASSES_ENOUGH passes. */
bool stability_write(FILE *out, const evidence *e, claim *claims, size_t count, stability *found);

/* Standard deviations of the log of a ratio: within a process (from its interval), between the
 * passes of a sitting, between sittings, and between all passes. NaN: too few. */
typedef struct noise {
    double rounds, passes, sittings, all;
} noise;

/* The medians of the noise over the races; `all` is NaN. */
noise noise_of(const evidence *e);

typedef struct claims_job {
    claim *claims; /* gets the figures and verdicts of its settings */
    size_t count;
    double seconds; /* seconds of timing for each candidate */
    uint64_t seed;  /* seed of the order of races and of candidates */
    bool quick;     /* skip large cases */
    void (*progress)(size_t done, size_t total, const char *what);
    void (*failed)(const claim *c, const setting *s);
    evidence evidence; /* gets the new races */
    /* Results. */
    size_t settings_measured, settings_failed;
} claims_job;

/* Runs every race that the claims need. False: out of memory. */
bool claims_race(claims_job *j);

/* Computes the quantities that are not timed, then decides all settings. Timed settings use the
 * evidence. */
void claims_decide(claims_job *j);
