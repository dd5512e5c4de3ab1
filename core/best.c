/* Which implementation to recommend: the first line below that fits and exists for the widest ISA; and
 * where none does, the highest rank. SPDX-License-Identifier: MIT */
#include "tuning.h"

#include <stdatomic.h>
#include <string.h>

enum { ROWS = NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM) };
enum { FORKS = 1, STREAMS = 2 };

typedef struct choice {
    const char *name;
    unsigned ops, passes;
    int when;      /* FORKS, STREAMS, or 0 */
    size_t c_most; /* widest row it is for, 0: any */
} choice;

static const choice choices[] = {
    {"optimized/rows_threaded", ROWS, NL_BIT(NL_FORWARD), FORKS, 0},
    {"optimized/rows_streaming", ROWS, NL_BIT(NL_FORWARD), STREAMS, 0},
    {"optimized/rows_registers", ROWS, NL_BIT(NL_FORWARD), 0, 128},
    {"optimized/rows_pipelined", ROWS, NL_BIT(NL_FORWARD), 0, 0},
    {"optimized/rows_backward_threaded", ROWS, NL_BIT(NL_BACKWARD), FORKS, 0},
    {"optimized/rows_backward_streaming", ROWS, NL_BIT(NL_BACKWARD), STREAMS, 0},
    {"optimized/rows_backward_registers", ROWS, NL_BIT(NL_BACKWARD), 0, 64},
    {"optimized/rows_backward_pipelined", ROWS, NL_BIT(NL_BACKWARD), 0, 0},
    {"optimized/batch_threaded", NL_BIT(NL_BATCHNORM), NL_BIT(NL_FORWARD), FORKS, 0},
    {"optimized/batch_streaming", NL_BIT(NL_BATCHNORM), NL_BIT(NL_FORWARD), STREAMS, 0},
    {"optimized/batch_backward_threaded", NL_BIT(NL_BATCHNORM), NL_BIT(NL_BACKWARD), FORKS, 0},
    {"optimized/batch_backward_streaming", NL_BIT(NL_BATCHNORM), NL_BIT(NL_BACKWARD), STREAMS, 0},
    {"optimized/batch_inference_threaded", NL_BIT(NL_BATCHNORM), NL_BIT(NL_INFERENCE), FORKS, 0},
    {"optimized/batch_inference_streaming", NL_BIT(NL_BATCHNORM), NL_BIT(NL_INFERENCE), STREAMS, 0},
};
enum { CHOICES = sizeof choices / sizeof *choices };

static bool fits(const choice *k, const nl_problem *p, int threads) {
    if (!(k->ops & NL_BIT(p->op)) || !(k->passes & NL_BIT(p->pass))) return false;
    if (k->c_most && p->c > k->c_most) return false;
    if (k->when == FORKS) return nl_forks(p, threads);
    return k->when != STREAMS || nl_streams(p, 1);
}

/* The entry for each choice, found once. */
static const nl_impl *entry_of(size_t choice) {
    static const nl_impl *_Atomic found[CHOICES];
    const nl_impl *impl = atomic_load_explicit(&found[choice], memory_order_relaxed);
    if (impl) return impl;
    impl = nl_find(choices[choice].name, nl_isa_best());
    atomic_store_explicit(&found[choice], impl, memory_order_relaxed);
    return impl;
}

static const nl_impl *highest_rank(const nl_problem *p) {
    const nl_impl *best = NULL;
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *impl = nl_impl_at(i);
        if (impl->rank < 0 || impl->demonstration) continue;
        if (!nl_accepts(impl, p) || !nl_isa_runs(impl->isa)) continue;
        if (!best || impl->rank >= best->rank) best = impl; /* wider ISAs come later */
    }
    return best;
}

const nl_impl *nl_best(const nl_problem *p, int threads) {
    for (size_t i = 0; i < CHOICES; i++) {
        if (!fits(&choices[i], p, threads)) continue;
        const nl_impl *impl = entry_of(i);
        if (impl && nl_accepts(impl, p)) return impl;
    }
    return highest_rank(p);
}
