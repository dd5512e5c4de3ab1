/* The known mistakes, each one change of the right formula. SPDX-License-Identifier: MIT */
#ifndef NL_MISTAKES_H
#define NL_MISTAKES_H

#include "judge/families.h"

/* Those that may concern the subject. w is the subject's, and is overwritten. Returns how many. */
size_t mistakes_list(const subject *s, workspace *w, mistake out[MISTAKES_MAX]);

#endif
