/* What became of the claims, as words and as CSV. SPDX-License-Identifier: MIT */
#ifndef NL_CLAIMS_WRITE_H
#define NL_CLAIMS_WRITE_H

#include "claims/claim.h"

#include <stdio.h>

void claims_write_text(FILE *out, const claim *claims, size_t count);
void claims_write_csv(FILE *out, const claim *claims, size_t count);

/* "SUPPORTED: where; where." of the settings that came out otherwise than the first. */
void claim_flips(const claim *c, char *text, size_t size);

#endif
