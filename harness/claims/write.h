/* Writes the results of claims as text and as CSV. SPDX-License-Identifier: MIT */
#ifndef NL_CLAIMS_WRITE_H
#define NL_CLAIMS_WRITE_H

#include "claims/claim.h"

#include <stdio.h>

void claims_write_text(FILE *out, const claim *claims, size_t count);
void claims_write_csv(FILE *out, const claim *claims, size_t count);

#endif
