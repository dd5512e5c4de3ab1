/* Were two result files measured alike? SPDX-License-Identifier: MIT */
#ifndef NL_FACTS_H
#define NL_FACTS_H

#include "results/results.h"

/* Do processor, caches and architecture agree? If not, why says what differs or is unknown. */
bool facts_one_machine(const results *file, char why[200]);

/* The facts that differ, as lines of text, which the caller frees; NULL: none. Leaves out the date,
 * which always differs, and the doctor's count of findings, which repeats them. */
char *facts_differing(const results *file);

#endif
