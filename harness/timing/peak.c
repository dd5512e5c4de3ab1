/* The table of ISAs. SPDX-License-Identifier: MIT */
#include "timing/peak.h"

#define LIMIT_ENTRY(isa) double peak_##isa(size_t steps, int chains);
#include "limit.inc"
#undef LIMIT_ENTRY

const peak_way peak_ways[] = {
#define LIMIT_ENTRY(isa) {#isa, peak_##isa},
#include "limit.inc"
#undef LIMIT_ENTRY
};
const size_t peak_count = sizeof peak_ways / sizeof *peak_ways;
