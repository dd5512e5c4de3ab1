/* The table of implementations, which the build generates from the names of the kernel files, and
 * its lookups. SPDX-License-Identifier: MIT */
#include "registry.h"
#include "isa.h"
#include "layer.h"
#include "parameters.h"
#include "strides.h"

#include <string.h>

#define NL_ENTRY(id) extern const nl_impl nl_impl_##id;
#include "registry.inc"
#undef NL_ENTRY
#define NL_ENTRY(id) &nl_impl_##id,
static const nl_impl *const table[] = {
#include "registry.inc"
};

enum { BUILT_IN = sizeof table / sizeof *table, ADDED_MAX = 32 };
static const nl_impl *added[ADDED_MAX];
static size_t added_count;

bool nl_registry_add(const nl_impl *impl) {
    if (added_count == ADDED_MAX) return false;
    added[added_count++] = impl;
    return true;
}

bool nl_is_own(const nl_impl *impl) {
    for (size_t i = 0; i < BUILT_IN; i++)
        if (table[i] == impl) return true;
    return false;
}

bool nl_is_peer(const char *name) {
    return strncmp(name, "peer/", 5) == 0;
}

size_t nl_impl_count(void) {
    return BUILT_IN + added_count;
}

const nl_impl *nl_impl_at(size_t i) {
    if (i >= nl_impl_count()) return NULL;
    return i < BUILT_IN ? table[i] : added[i - BUILT_IN];
}

static bool is_known(const nl_problem *p) {
    return (unsigned)p->op < NL_OPS && (unsigned)p->pass < NL_PASSES &&
           (unsigned)p->dtype < NL_DTYPES;
}

bool nl_accepts(const nl_impl *impl, const nl_problem *p) {
    if (!is_known(p)) return false;
    return impl->ops & NL_BIT(p->op) && impl->passes & NL_BIT(p->pass) &&
           impl->dtypes & NL_BIT(p->dtype) && (!impl->c_max || p->c <= impl->c_max) &&
           (impl->strided || nl_is_packed(p));
}

const nl_impl *nl_find(const char *name, const char *isa) {
    const nl_impl *widest = NULL;
    for (size_t i = 0; name && i < nl_impl_count(); i++) {
        const nl_impl *impl = nl_impl_at(i);
        if (strcmp(impl->name, name) != 0) continue;
        if (isa && strcmp(impl->isa, isa) == 0) return impl;
        if (isa || !nl_isa_runs(impl->isa)) continue;
        if (!widest || nl_isa_index(impl->isa) > nl_isa_index(widest->isa)) widest = impl;
    }
    return widest;
}

const char *nl_isa_best(void) {
    const char *best = "c";
    for (size_t i = 0; i < BUILT_IN; i++) {
        const char *isa = table[i]->isa;
        if (nl_isa_runs(isa) && nl_isa_index(isa) > nl_isa_index(best)) best = isa;
    }
    return best;
}

size_t nl_scratch_bytes(const nl_impl *impl, const nl_problem *p) {
    const size_t bytes = impl->scratch ? impl->scratch(p) : 0;
    return p->parameters == NL_F32 ? bytes : bytes + nl_parameter_bytes(p);
}
