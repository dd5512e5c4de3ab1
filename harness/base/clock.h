/* The clock that every measurement uses. SPDX-License-Identifier: MIT */
#pragma once

/* Nanoseconds of a monotonic clock. */
double clock_ns(void);
