/* SPDX-License-Identifier: MIT */
#include "judge/hint.h"
#include "dtype.h"
#include "verify/expected.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

static void take(void *context, const instance *in) {
    sample *out = context;
    const nl_problem *p = &in->c->problem;
    size_t numbers = 0;
    for (nl_arg o = 0; o < NL_ARGS; o++) numbers += expected_has(in, o) ? expected_count(p, o) : 0;
    double *next = out->memory = malloc(out->bytes = (numbers + 1) * sizeof *next);
    if (!next) return;
    next[numbers] = 0;
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        if (!expected_has(in, o)) continue;
        out->of[o] = next;
        const nl_dtype t = nl_args[o].extent == NL_TENSOR ? p->dtype : NL_F32;
        for (size_t i = 0; i < expected_count(p, o); i++)
            *next++ = nl_load(t, in->at[o], nl_place(nl_places_of(p, o), i));
    }
}

bool samples_take(const instance *of, int threads, sample out[SAMPLES]) {
    const unsigned char nan = 0xff;
    const examination how[SAMPLES] =
        {[FIRST] = {threads, nan, nan},    [AGAIN] = {threads, nan, nan},
         [OVER_ZEROS] = {threads, 0, nan}, [ZERO_SCRATCH] = {threads, nan, 0},
         [ONE_THREAD] = {1, nan, nan},     [APART] = {threads, nan, nan}};
    nl_case apart = *of->c;
    apart.in_place = 0;
    for (int k = 0; k < SAMPLES; k++) {
        if (k == APART && !of->c->in_place) continue;
        examine(k == APART ? &apart : of->c, of->data, of->impl, how[k], take, &out[k]);
        if (k == FIRST && !out[k].memory) return false;
    }
    return true;
}

void samples_free(sample of[SAMPLES]) {
    for (int k = 0; k < SAMPLES; k++) free(of[k].memory);
}

bool sample_same(const sample *a, const sample *b) {
    return !a->memory || !b->memory || memcmp(a->memory, b->memory, a->bytes) == 0;
}
