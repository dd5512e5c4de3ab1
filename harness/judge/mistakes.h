/* The known mistakes, each one change of the right formula. SPDX-License-Identifier: MIT */
#ifndef NL_MISTAKES_H
#define NL_MISTAKES_H

#include "judge/families.h"

/* Lists those that may concern the subject, and returns their number. Overwrites w, the subject's
 * workspace. */
size_t mistakes_list(const subject *s, workspace *w, mistake out[MISTAKES_MAX]);

#endif
