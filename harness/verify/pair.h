/* Two calls of a kernel at once, by two threads and on other data: a static buffer shows.
 * SPDX-License-Identifier: MIT */
#ifndef NL_PAIR_H
#define NL_PAIR_H

#include "verify/worker.h"

/* Is a call of this instance made in a pair as well? On small, ordinary cases, of added kernels that
 * use one thread: of our own no function has a static buffer. */
bool pair_wanted(const instance *in);

/* False: a call gave other numbers than alone. In the process of the kernel, after its call. */
bool pair_agrees(const slip *s);

#endif
