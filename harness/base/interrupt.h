/* Ctrl-C lets the current round end; the measurements so far are kept.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* After this call the first Ctrl-C only sets a flag; a second Ctrl-C ends the process. */
void interrupt_watch(void);

/* From now on Ctrl-C ends the process at once. */
void interrupt_as_usual(void);

bool interrupted(void);
