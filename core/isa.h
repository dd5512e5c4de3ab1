/* The instruction sets by number. SPDX-License-Identifier: MIT */
#ifndef NL_ISA_H
#define NL_ISA_H

enum { NL_ISAS_MOST = 8 };

/* Its place among those of this kind of processor, below NL_ISAS_MOST; -1: unknown. */
int nl_isa_index(const char *isa);

#endif
