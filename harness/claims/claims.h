/* What is said about the layers, as files, and what becomes of it when it is measured.
 * docs/claims.md has the format and the meaning of the verdicts. SPDX-License-Identifier: MIT */
#ifndef NL_CLAIMS_H
#define NL_CLAIMS_H

#include "claims/paper.h"
#include "timing/race.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum claim_verdict { SUPPORTED, REFUTED, EQUAL, UNRESOLVED } claim_verdict;

const char *
claim_verdict_name(claim_verdict v); /* "SUPPORTED", "REFUTED", "SAME", "NOT RESOLVED" */

/* What the figure has to be for the claim to hold: low to high; where they are equal, that number
 * within the claim's margin. */
typedef struct predicate {
    double low, high;
} predicate;

/* A number and where the truth lies; wide: the same, and the A/A band on either side of it. */
typedef struct figure {
    estimate value, wide;
    double band; /* half of what the band adds */
    size_t rounds;
} figure;

/* What is measured. same: the figure at which there is no difference, NaN where that means nothing. */
typedef struct quantity {
    const char *name, *unit, *about;
    double same;
    bool timed; /* a race: a mode and a case without its layer; else get */
    bool (*get)(stages *all, const char *how, const char *tail, double seconds, figure *out,
                char *why, size_t why_size);
} quantity;

extern const quantity quantities[];
extern const size_t quantities_count;
const quantity *quantity_find(const char *name);

enum { SETTINGS_MOST = 12, CLAIM_TEXT = 400 };

/* Where it is measured: the first setting is what the claim means. */
typedef struct setting {
    char how[32], tail[200]; /* "simd", "forward/f32/64x1024/normal"; tail may be empty */
    figure f;
    claim_verdict verdict;
    bool known; /* measured; else why says why not */
    char why[400];
} setting;

typedef struct claim {
    char name[64], text[CLAIM_TEXT], source[CLAIM_TEXT], why[CLAIM_TEXT];
    const quantity *q;
    const paper_row *paper; /* a row of the paper's: the predicate, and the norm's share */
    predicate says;
    double margin, share; /* share: of the step, as a fraction; 1 for the norm by itself */
    setting at[SETTINGS_MOST];
    size_t settings;
} claim;

/* One file, one claim, named as the file. False: error says where and what. */
bool claim_read(const char *path, claim *out, char *error, size_t error_size);

/* Never SUPPORTED, REFUTED or EQUAL with a NaN. */
claim_verdict claim_decide(estimate wide, predicate says, double same, double margin);

/* A log ratio of RMSNorm's time over LayerNorm's, and its band, as the quantity has it. */
figure claim_figure(const quantity *q, double share, estimate log_ratio, double band);

/* "SUPPORTED: where; where." of the settings that came out otherwise than the first. */
void claim_flips(const claim *c, char *text, size_t size);

void claims_write_text(FILE *out, const claim *claims, size_t count);
void claims_write_csv(FILE *out, const claim *claims, size_t count);

#endif
