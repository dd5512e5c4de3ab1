/* The clock of every measurement. SPDX-License-Identifier: MIT */
#ifndef NL_CLOCK_H
#define NL_CLOCK_H

/* Nanoseconds of a monotonic clock. */
double clock_ns(void);

#endif
