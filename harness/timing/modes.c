/* The table of modes. SPDX-License-Identifier: MIT */
#include "timing/modes.h"
#include "timing/fixture.h"

#include <string.h>

const mode modes[] = {
    {"unfused", "unfused", "one loop per operation, every intermediate stored",
     .impl = {"layernorm/unfused", "rmsnorm/unfused"}, .transfers = {12, 7}},
    {"naive", "the formula, fused", "the formula as printed",
     .impl = {"layernorm/naive", "rmsnorm/naive"}},
    {"scalar", "plain C", "fused plain C", .impl = {"layernorm/two_pass", "rmsnorm/one_pass"}},
    {"refined", "plain C, the mean refined", "plain C, the mean refined",
     .impl = {"layernorm/refined", "rmsnorm/one_pass"}},
    {"simd_two_pass", "SIMD, LayerNorm reads twice",
     "SIMD, LayerNorm reads x twice for its statistics",
     .impl = {"optimized/rows_accumulators", "optimized/rows_accumulators"}},
    {"simd", "SIMD", "SIMD, statistics in one pass",
     .impl = {"optimized/rows_pipelined", "optimized/rows_pipelined"}},
    {"streaming", "SIMD, streaming stores", "SIMD, streaming stores",
     .impl = {"optimized/rows_streaming", "optimized/rows_streaming"}, .streams = true},
    {"threads", "SIMD, all threads", "SIMD on all threads",
     .impl = {"optimized/rows_threaded", "optimized/rows_threaded"}, .threaded = true},
    {"best", "the library's choice", "what nl_best() chooses", .impl = {"best", "best"}},
    {"unfused_rms", "RMSNorm unfused, LayerNorm in SIMD",
     "RMSNorm unfused against LayerNorm in SIMD",
     .impl = {"optimized/rows_pipelined", "rmsnorm/unfused"}, .transfers = {2, 7}},
    {"partial", "plain C, pRMSNorm", "fused plain C, RMSNorm's statistics from 1/16 of the row",
     .impl = {"layernorm/two_pass", "rmsnorm/partial"}},
};
const size_t modes_count = sizeof modes / sizeof *modes;

const mode *mode_find(const char *name) {
    for (size_t i = 0; i < modes_count; i++)
        if (strcmp(modes[i].name, name) == 0) return &modes[i];
    return NULL;
}

int mode_threads(const mode *m) {
    return m->threaded ? nl_max_threads() : 1;
}

static bool is_optimized(const char *name) {
    return strncmp(name, "optimized/", 10) == 0;
}

const nl_impl *mode_impl(const mode *m, int side, const nl_problem *p) {
    static const char *const plain[] = {"layernorm/backward", "rmsnorm/backward"};
    const char *name = m->impl[side];
    if (p->pass == NL_BACKWARD && is_optimized(name)) {
        bool streams = m->streams;
        nl_problem q = *p;
        q.stores = streams ? NL_STORES_STREAMING : NL_STORES_CACHED;
        const nl_impl *best = nl_best(&q, mode_threads(m));
        bool same = best && is_optimized(best->name) && best->threaded == m->threaded &&
                    (m->threaded || best->streams == streams);
        return same ? best : NULL;
    }
    if (p->pass == NL_BACKWARD) name = strcmp(name, "best") == 0 ? name : plain[side];
    if (strcmp(name, partial_impl.name) == 0) return &partial_impl;
    if (strcmp(name, "best") == 0) return nl_best(p, mode_threads(m));
    const nl_impl *widest = nl_find(name, NULL);
    return widest && nl_accepts(widest, p) ? widest : NULL;
}
