/* harness/verify/shrink.c without its limit of time: the smallest case that it finds here must not
 * depend on what else the machine does. SPDX-License-Identifier: MIT */
#include "base/clock.h" /* first: its declaration is no call */

#define clock_ns() 0.0
#include "verify/shrink.c"
