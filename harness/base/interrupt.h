/* Ctrl-C: the round under way is finished, and what was measured is kept.
 * SPDX-License-Identifier: MIT */
#ifndef NL_INTERRUPT_H
#define NL_INTERRUPT_H

#include <stdbool.h>

/* From now on the first Ctrl-C is only noted; a second one ends the process. */
void interrupt_watch(void);

bool interrupted(void);

#endif
