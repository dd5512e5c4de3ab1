/* Were two result files measured alike? SPDX-License-Identifier: MIT */
#ifndef NL_COMPARE_FACTS_H
#define NL_COMPARE_FACTS_H

#include "results/results.h"

/* Do processor, caches and architecture agree? If not, why says what differs or is not known. */
bool facts_one_machine(const results *file, char why[200]);

/* Every fact that differs, whatever it is called; but dates must, and the doctor's count of
 * findings says nothing that they do not. As lines of text, to be
 * freed; NULL: none differs. */
char *facts_unlike(const results *file);

#endif
