/* The clock of every measurement. SPDX-License-Identifier: MIT */
#pragma once

/* Nanoseconds of a monotonic clock. */
double clock_ns(void);
