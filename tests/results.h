/* Result files for the tests of the reader of results. SPDX-License-Identifier: MIT */
#pragma once

#include "folder.h"
#include "results/results.h"

#include <stdint.h>

/* The columns that the reader needs, and those that bench writes. Unknown columns are ignored. */
#define NEEDED "case,impl,isa,threads,verdict,ns,ns_low,ns_high\n"
#define FULL                                                                                     \
    "case,impl,isa,threads,op,pass,dtype,n,c,s,data,options,verdict,error_u,bound_u,ns,ns_low,"  \
    "ns_high,ns_min,gbps,limit_gbps,limit_pct,bytes,state_bytes,scratch_bytes,baseline,speedup," \
    "speedup_low,speedup_high,comparison,aa_band,rounds,calls,stopped,flag\n"
#define GOOD "a,i/x,c,1,ok,10,9,11\n"

/* Reads `text` as a file. Returns "", or the error without the path. */
static char error[700];

static inline const char *reading(const char *text, size_t size, results *out) {
    spill(path, text, size);
    error[0] = '\0';
    if (results_read(path, out, error, sizeof error)) return "";
    size_t length = strlen(path);
    return strncmp(error, path, length) == 0 ? error + length : error;
}

static inline void enter_results(void) {
    enter_folder("a.csv");
}
