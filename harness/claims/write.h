/* Writes the results of claims as text and as CSV. SPDX-License-Identifier: MIT */
#ifndef NL_CLAIMS_WRITE_H
#define NL_CLAIMS_WRITE_H

#include "claims/claim.h"

#include <stdio.h>

void claims_write_text(FILE *out, const claim *claims, size_t count);
void claims_write_csv(FILE *out, const claim *claims, size_t count);

/* The settings whose verdict differs from the first's: "REFUTED: HOW on CASE, HOW on CASE; ...". */
void claim_flips(const claim *c, char *text, size_t size);

#endif
