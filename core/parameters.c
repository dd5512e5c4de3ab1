/* Converts arrays of 16-bit parameters. SPDX-License-Identifier: MIT */
#include "parameters.h"
#include "layer.h"

enum { LINE = 64, ARRAYS = 3 };

static size_t whole_lines(size_t bytes) {
    return (bytes + LINE - 1) / LINE * LINE;
}

static size_t step(const nl_problem *p) {
    return whole_lines(p->c * sizeof(float)) / sizeof(float);
}

size_t nl_parameter_bytes(const nl_problem *p) {
    return p->parameters == NL_F32 ? 0 : ARRAYS * step(p) * sizeof(float) + LINE;
}

float *nl_parameter_room(const nl_impl *impl, const nl_problem *p, void *scratch) {
    if (p->parameters == NL_F32) return NULL;
    return (float *)((char *)scratch + whole_lines(impl->scratch ? impl->scratch(p) : 0));
}

const nl_problem *nl_in_floats(nl_problem *floats, const nl_problem *p) {
    *floats = *p;
    floats->parameters = NL_F32;
    return floats;
}

/* One loop for each type, so that compilers vectorize it. */
static const float *load(const nl_problem *p, const void *from, float *to) {
    const size_t c = p->c;
    if (p->parameters == NL_BF16)
        for (size_t j = 0; j < c; j++) to[j] = nl_load(NL_BF16, from, j);
    else
        for (size_t j = 0; j < c; j++) to[j] = nl_load(NL_F16, from, j);
    return to;
}

static void store(const nl_problem *p, const float *from, void *to) {
    const size_t c = p->c;
    if (p->parameters == NL_BF16)
        for (size_t j = 0; j < c; j++) nl_store(NL_BF16, to, j, from[j]);
    else
        for (size_t j = 0; j < c; j++) nl_store(NL_F16, to, j, from[j]);
}

void nl_parameters_in(const nl_problem *p, float *room, const void **gamma, const void **beta) {
    if (*gamma) *gamma = load(p, *gamma, room);
    if (beta && *beta) *beta = load(p, *beta, room + step(p));
}

void nl_gradients_room(const nl_problem *p, float *room, void **dgamma, void **dbeta) {
    if (*dgamma) *dgamma = room + step(p);
    if (*dbeta) *dbeta = room + 2 * step(p);
}

void nl_gradients_out(const nl_problem *p, const float *room, void *dgamma, void *dbeta) {
    if (dgamma) store(p, room + step(p), dgamma);
    if (dbeta) store(p, room + 2 * step(p), dbeta);
}
