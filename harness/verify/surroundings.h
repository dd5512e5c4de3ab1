/* What a call should leave as it was, beside its buffers: arithmetic, signals, limits, timers, files,
 * the processors of its thread. SPDX-License-Identifier: MIT */
#ifndef NL_SURROUNDINGS_H
#define NL_SURROUNDINGS_H

#include "verify/instance.h"

/* Notes what is usual, once, before the first call. */
void surroundings_note(void);

/* What a call has left changed, which would affect the next one; "": nothing. */
const char *surroundings_changed(const instance *in);

#endif
