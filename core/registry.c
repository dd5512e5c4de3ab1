/* The table of implementations, which the build writes from the kernel files' names, and the ways
 * to look something up in it. SPDX-License-Identifier: MIT */
#include "registry.h"
#include "isa.h"
#include "layer.h"

#include <string.h>

#define NL_ENTRY(id) extern const nl_impl nl_impl_##id;
#include "registry.inc"
#undef NL_ENTRY
#define NL_ENTRY(id) &nl_impl_##id,
static const nl_impl *const table[] = {
#include "registry.inc"
};

enum { BUILT_IN = sizeof table / sizeof *table, MORE_MOST = 32 };
static const nl_impl *more[MORE_MOST];
static size_t more_count;

bool nl_registry_add(const nl_impl *impl) {
    if (more_count == MORE_MOST) return false;
    more[more_count++] = impl;
    return true;
}

bool nl_is_peer(const char *name) {
    return strncmp(name, "peer/", 5) == 0;
}

size_t nl_impl_count(void) {
    return BUILT_IN + more_count;
}

const nl_impl *nl_impl_at(size_t i) {
    if (i >= nl_impl_count()) return NULL;
    return i < BUILT_IN ? table[i] : more[i - BUILT_IN];
}

static bool is_known(const nl_problem *p) {
    return (unsigned)p->op < NL_OPS && (unsigned)p->pass < NL_PASSES &&
           (unsigned)p->dtype < NL_DTYPES;
}

bool nl_accepts(const nl_impl *impl, const nl_problem *p) {
    if (!is_known(p)) return false;
    return impl->ops & NL_BIT(p->op) && impl->passes & NL_BIT(p->pass) &&
           impl->dtypes & NL_BIT(p->dtype) && (!impl->c_most || p->c <= impl->c_most);
}

const nl_impl *nl_find(const char *name, const char *isa) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *impl = nl_impl_at(i);
        bool wanted = isa ? strcmp(impl->isa, isa) == 0 : nl_isa_runs(impl->isa);
        if (wanted && strcmp(impl->name, name) == 0) return impl;
    }
    return NULL;
}

const char *nl_isa_best(void) {
    const char *best = "c";
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const char *isa = nl_impl_at(i)->isa;
        if (nl_isa_runs(isa) && nl_isa_index(isa) > nl_isa_index(best)) best = isa;
    }
    return best;
}

size_t nl_scratch_bytes(const nl_impl *impl, const nl_problem *p) {
    return impl->scratch ? impl->scratch(p) : 0;
}
