/* Writes the results of claims as text and as CSV. SPDX-License-Identifier: MIT */
#pragma once

#include "claims/claim.h"
#include "claims/claim_answer.h"

#include <stdio.h>

void claims_write_text(FILE *out, const claim *claims, size_t count);
void claims_write_csv(FILE *out, const claim *claims, size_t count);

/* The answer to a claim in words, so that nobody has to derive it from the verdicts. */

/* The sizes of buffers for the longest sentence with its settings, and for the longest place. */
enum { CLAIM_WORDS = 6500, CLAIM_WHERE = 320 };

/* The result, in one sentence. */
void claim_sentence(const claim *c, char *text, size_t size);

/* The caches of the machine that was measured, as in machine.txt: "L1 48K (cpus 0), L2 ...". Without
 * it, those of this machine. */
void claim_caches(const char *caches);

/* "SIMD, 64 x 1024 in L2" */
void claim_where(const claim *c, const setting *s, char *text, size_t size);
