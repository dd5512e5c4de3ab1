/* Instruction sets (ISAs) as indices. SPDX-License-Identifier: MIT */
#pragma once

enum { NL_ISAS_MAX = 8 };

/* The ISA's position in this architecture's list, below NL_ISAS_MAX; -1: unknown. */
int nl_isa_index(const char *isa);
