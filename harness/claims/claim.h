/* What is said about the layers, as files. docs/claims.md has their format.
 * SPDX-License-Identifier: MIT */
#ifndef NL_CLAIM_H
#define NL_CLAIM_H

#include "timing/paper.h"
#include "claims/quantity.h"

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

#endif
