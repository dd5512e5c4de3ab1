/* SPDX-License-Identifier: MIT */
#include "claims/pointwise.h"
#include "normlab.h"

#define LIMIT_ENTRY(isa)                                     \
    void layer_##isa(const pointwise_job *, pointwise_kind); \
    float squares_##isa(const float *, size_t);
#include "limit.inc"
#undef LIMIT_ENTRY

const pointwise_isa *pointwise_find(bool plain) {
    static const pointwise_isa all[] = {
#define LIMIT_ENTRY(isa) {#isa, layer_##isa, squares_##isa},
#include "limit.inc"
#undef LIMIT_ENTRY
    };
    const pointwise_isa *widest = all; /* the first is plain C, the widest comes last */
    for (size_t i = 1; i < sizeof all / sizeof *all && !plain; i++)
        if (nl_isa_runs(all[i].name)) widest = &all[i];
    return widest;
}
