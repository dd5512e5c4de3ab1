/* The table of implementations, which the build writes from the kernel files' names, and the ways
 * to look something up in it. SPDX-License-Identifier: MIT */
#include "normlab.h"

#include <string.h>

#define NL_ENTRY(id) extern const nl_impl nl_impl_##id;
#include "registry.inc"
#undef NL_ENTRY
#define NL_ENTRY(id) &nl_impl_##id,
static const nl_impl *const table[] = {
#include "registry.inc"
};

size_t nl_impl_count(void) {
    return sizeof table / sizeof *table;
}

const nl_impl *nl_impl_at(size_t i) {
    return i < nl_impl_count() ? table[i] : NULL;
}

static bool in_range(const nl_problem *p) {
    return (unsigned)p->op <= NL_QWEN2_RMSNORM && (unsigned)p->pass <= NL_INFERENCE &&
           (unsigned)p->dtype <= NL_BF16;
}

bool nl_accepts(const nl_impl *impl, const nl_problem *p) {
    if (!in_range(p)) return false;
    return impl->ops & NL_BIT(p->op) && impl->passes & NL_BIT(p->pass) &&
           impl->dtypes & NL_BIT(p->dtype);
}

const nl_impl *nl_find(const char *name, const char *isa) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        bool wanted = isa ? strcmp(table[i]->isa, isa) == 0 : nl_isa_runs(table[i]->isa);
        if (wanted && strcmp(table[i]->name, name) == 0) return table[i];
    }
    return NULL;
}

const nl_impl *nl_best(const nl_problem *p, int threads) {
    const nl_impl *best = NULL;
    (void)threads; /* no implementation's rank depends on it yet */
    for (size_t i = 0; i < nl_impl_count(); i++) {
        if (!nl_accepts(table[i], p) || !nl_isa_runs(table[i]->isa)) continue;
        if (!best || table[i]->rank > best->rank) best = table[i];
    }
    return best;
}

size_t nl_scratch_bytes(const nl_impl *impl, const nl_problem *p) {
    return impl->scratch ? impl->scratch(p) : 0;
}

const char *nl_op_name(nl_op op) {
    static const char *const names[] = {"batchnorm", "layernorm", "rmsnorm", "qwen2_rmsnorm"};
    return (unsigned)op <= NL_QWEN2_RMSNORM ? names[op] : "?";
}

const char *nl_pass_name(nl_pass pass) {
    static const char *const names[] = {"forward", "backward", "inference"};
    return (unsigned)pass <= NL_INFERENCE ? names[pass] : "?";
}

const char *nl_dtype_name(nl_dtype dtype) {
    static const char *const names[] = {"f32", "f16", "bf16"};
    return (unsigned)dtype <= NL_BF16 ? names[dtype] : "?";
}

size_t nl_dtype_bytes(nl_dtype dtype) {
    return dtype == NL_F32 ? 4 : 2;
}
