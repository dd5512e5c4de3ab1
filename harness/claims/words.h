/* The answer to a claim in words: what a reader of verdicts would have to compute or look up.
 * SPDX-License-Identifier: MIT */
#ifndef NL_CLAIMS_WORDS_H
#define NL_CLAIMS_WORDS_H

#include "claims/answer.h"

/* Room for the longest sentence and list of settings; for the longest place. */
enum { CLAIM_WORDS = 6500, CLAIM_WHERE = 320 };

/* What was found, in one sentence. */
void claim_sentence(const claim *c, char *text, size_t size);

/* "SIMD, from memory" */
void claim_where(const claim *c, const setting *s, char *text, size_t size);

#endif
