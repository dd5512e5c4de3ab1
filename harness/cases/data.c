/* The arrays of a case. Every element depends on its index alone, so threads can fill them in
 * pieces. SPDX-License-Identifier: MIT */
#include "cases/data.h"
#include "base/npy.h"
#include "base/random.h"
#include "cases/kinds.h"
#include "dtype.h"
#include "parallel.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t bytes_of(const nl_problem *p, unsigned args) {
    size_t bytes = 0;
    for (nl_arg a = 0; a < NL_ARGS; a++)
        if (args & NL_BIT(a)) bytes += nl_bytes(p, nl_args[a].extent);
    return bytes;
}

size_t case_bytes(const nl_case *c) {
    const struct nl_pass_row *pass = &nl_passes[c->problem.pass];
    return bytes_of(&c->problem, case_args(c) & pass->reads) +
           bytes_of(&c->problem, case_args(c) & pass->writes);
}

size_t case_state_bytes(const nl_case *c) {
    return bytes_of(&c->problem, case_args(c) & (NL_BIT(NL_MEAN) | NL_BIT(NL_RSTD)));
}

typedef struct job {
    const nl_case *c;
    nl_data *out;
} job;

/* Added to the stream number of the gate, and of inputs whose kind an option sets. */
enum { OWN_STREAMS = 32 };

static uint64_t stream_of(const nl_case *c, nl_arg a) {
    return a != NL_X && (c->kind[a].value || a == NL_GATE) ? OWN_STREAMS + a : a;
}

static double own_value(const nl_case *c, nl_arg a, const place *at) {
    place with = *at;
    with.stream = stream_of(c, a);
    return c->kind[a].value(&with, c->kind[a].k);
}

/* Fills elements begin to end - 1 of the tensors. */
static void fill(void *context, size_t begin, size_t end) {
    const job *w = context;
    const nl_problem *p = &w->c->problem;
    void *const *in = w->out->input;
    const nl_places of_x = nl_places_of(p, NL_X), of_residual = nl_places_of(p, NL_RESIDUAL),
                    of_dy = nl_places_of(p, NL_DY), of_gate = nl_places_of(p, NL_GATE);
    const bool by_channel = nl_layers[p->op].by_channel;
    if (begin == end) return;
    size_t n = begin / (p->c * p->s), j = nl_feature_of(p, begin), inside = begin % p->s;
    for (size_t i = begin; i < end; i++) {
        const place at = {.stream = NL_X,
                          .i = i,
                          .g = by_channel ? j : n,
                          .e = (by_channel ? n : j) * p->s + inside,
                          .m = nl_group_size(p),
                          .centred = nl_layers[p->op].centred,
                          .j = j};
        if (++inside == p->s) inside = 0, j++; /* faster than dividing i */
        if (j == p->c) j = 0, n++;
        const data_kind *kind = w->c->kind;
        const double residual = !in[NL_RESIDUAL]          ? 0
                                : kind[NL_RESIDUAL].value ? own_value(w->c, NL_RESIDUAL, &at)
                                : kind[NL_X].exact ? floor(17 * random_uniform(NL_RESIDUAL, i)) - 8
                                                   : random_normal(NL_RESIDUAL, i);
        if (in[NL_RESIDUAL])
            nl_store(p->dtype, in[NL_RESIDUAL], nl_place(of_residual, i), (float)residual);
        if (kind[NL_X].value) {
            double x = kind[NL_X].value(&at, kind[NL_X].k);
            if (kind[NL_X].exact && in[NL_RESIDUAL] && !in[NL_DY]) x -= residual;
            nl_store(p->dtype, in[NL_X], nl_place(of_x, i), (float)x);
        }
        /* mean(dy) is not 0, so that an error in the term with mean(dy) shows */
        const double dy = !in[NL_DY]          ? 0
                          : kind[NL_DY].value ? own_value(w->c, NL_DY, &at)
                          : kind[NL_X].exact  ? 1 + floor(3 * random_uniform(NL_DY, i))
                                              : 0.5 + random_normal(NL_DY, i);
        if (in[NL_DY]) nl_store(p->dtype, in[NL_DY], nl_place(of_dy, i), (float)dy);
        if (in[NL_GATE])
            nl_store(p->dtype, in[NL_GATE], nl_place(of_gate, i),
                     (float)(kind[NL_GATE].value ? own_value(w->c, NL_GATE, &at)
                             : kind[NL_X].exact  ? 64 /* silu(64) is 64, without rounding */
                                                 : 2 * random_normal(stream_of(w->c, NL_GATE), i)));
    }
}

int data_threads(const nl_problem *p) {
    return p->n * p->c * p->s < 32768 ? 1 : nl_max_threads();
}

/* Makes many outputs lie halfway between two stored numbers: rounds gamma to a multiple of half the
 * step of the tensors' type near 1, and beta to one bit more than the type has. */
static void make_ties(const nl_problem *p, double *gamma, double *beta) {
    const int bits = p->dtype == NL_BF16 ? 8 : 11;
    int exponent;
    *gamma = ldexp(rint(ldexp((double)(float)*gamma, bits)), -bits);
    const double fraction = frexp((double)(float)*beta, &exponent);
    *beta = ldexp(rint(ldexp(fraction, bits + 1)), exponent - bits - 1);
}

static const nl_arg of_features[] = {NL_GAMMA, NL_BETA, NL_RUNNING_MEAN, NL_RUNNING_VAR};

nl_dtype data_type(const nl_problem *p, nl_arg a) {
    const nl_extent extent = nl_args[a].extent;
    return extent == NL_TENSOR ? p->dtype : extent == NL_PARAMETERS ? p->parameters : NL_F32;
}

static void fill_features(const nl_case *c, void *const *f) {
    const nl_problem *p = &c->problem;
    const double gain = (double)c->gain, less = nl_layers[p->op].plus_one ? 1 : 0;
    const size_t half = (p->c + 1) / 2; /* each half of the features gets a kind's special value */
    for (size_t j = 0; j < p->c; j++) { /* not constant, so that a wrong index shows */
        double usual[NL_ARGS] = {0};
        if (f[NL_GAMMA]) usual[NL_GAMMA] = gain - less + gain * 0.25 * random_normal(NL_GAMMA, j);
        if (f[NL_BETA]) usual[NL_BETA] = gain * 0.5 * random_normal(NL_BETA, j);
        if (f[NL_RUNNING_MEAN]) usual[NL_RUNNING_MEAN] = random_normal(NL_RUNNING_MEAN, j);
        if (f[NL_RUNNING_VAR]) usual[NL_RUNNING_VAR] = 0.5 + random_uniform(NL_RUNNING_VAR, j);
        if (c->kind[NL_X].ties && gain == 1) make_ties(p, &usual[NL_GAMMA], &usual[NL_BETA]);
        const bool upper = j >= half;
        const place at = {.i = j,
                          .g = upper ? 2 : 0,
                          .e = upper ? j - half : j,
                          .m = upper ? p->c - half : half,
                          .centred = true,
                          .j = j};
        for (size_t k = 0; k < sizeof of_features / sizeof *of_features; k++) {
            const nl_arg a = of_features[k];
            const double own = c->kind[a].value ? own_value(c, a, &at) : usual[a];
            const float value = (float)(a == NL_RUNNING_VAR ? fabs(own) : own);
            if (f[a]) nl_store(data_type(p, a), f[a], j, value);
        }
    }
}

static bool widen(const nl_problem *p, void *from, float **to) {
    *to = from;
    if (!from || p->parameters == NL_F32) return true;
    *to = malloc((p->c + 1) * sizeof **to);
    for (size_t j = 0; *to && j < p->c; j++) (*to)[j] = nl_load(p->parameters, from, j);
    return *to;
}

bool data_widen(const nl_problem *p, nl_data *d) {
    return widen(p, d->input[NL_GAMMA], &d->gamma) && widen(p, d->input[NL_BETA], &d->beta);
}

/* Turns NAME.x.npy into NAME.<part>.npy. False: path has another form, or there is no such file. */
static bool sibling(const char *path, const char *part, char *out, size_t out_size) {
    size_t length = strlen(path), end = strlen(".x.npy");
    if (length <= end || strcmp(path + length - end, ".x.npy") != 0) return false;
    int n = snprintf(out, out_size, "%.*s.%s.npy", (int)(length - end), path, part);
    if (n < 0 || (size_t)n >= out_size) return false;
    FILE *f = fopen(out, "rb");
    return f && fclose(f) == 0;
}

/* Reads a file of exactly `count` numbers and stores them as t. */
static bool load(const char *path, size_t count, nl_dtype t, void *out, char *error, size_t size) {
    npy a;
    if (!npy_read(path, &a, error, size)) return false;
    bool fits = a.count == count;
    for (size_t i = 0; fits && i < count; i++) nl_store(t, out, i, (float)npy_value(&a, i));
    if (!fits)
        snprintf(error, size, "%s holds %zu values; the case needs %zu", path, a.count, count);
    npy_free(&a);
    return fits;
}

/* Reads x and the files beside it into the arrays of *out. */
static bool load_files(const nl_case *c, nl_data *out, char *error, size_t error_size) {
    const nl_problem *p = &c->problem;
    const char *path = c->data + 4;
    char other[300];
    if (!load(path, p->n * p->c * p->s, p->dtype, out->input[NL_X], error, error_size))
        return false;
    for (nl_arg a = NL_GAMMA; a <= NL_BETA; a++)
        if (out->input[a] && sibling(path, nl_args[a].name, other, sizeof other) &&
            !load(other, p->c, data_type(p, a), out->input[a], error, error_size))
            return false;
    return true;
}

bool data_make(const nl_case *c, nl_data *out, char *error, size_t error_size) {
    const nl_problem *p = &c->problem;
    job w = {.c = c, .out = out};
    *out = (nl_data){0};
    size_t most = SIZE_MAX / 1024; /* the reference allocates many bytes for each element */
    if ((p->s && p->c > most / p->s) || (p->c && p->s && p->n > most / (p->c * p->s))) {
        snprintf(error, error_size, "case %s: n * c * s overflows", c->text);
        return false;
    }
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!(case_args(c) & NL_BIT(a))) continue;
        out->bytes[a] = nl_arg_bytes(p, a);
        if (!(nl_passes[p->pass].reads & NL_BIT(a))) continue;
        out->input[a] = malloc(out->bytes[a] ? out->bytes[a] : 1);
        if (out->input[a] && !nl_is_packed(p)) /* NaN between the rows */
            memset(out->input[a], 0xff, out->bytes[a]);
        if (out->input[a]) continue;
        snprintf(error, error_size, "case %s: no memory for %zu bytes of %s", c->text,
                 out->bytes[a], nl_arg_name(a, p->pass));
        return data_free(out), false;
    }
    if (c->kind[NL_X].exact && p->n * p->c * p->s > EXACT_MAX) {
        snprintf(error, error_size, "case %s: `exact` supports at most %d elements", c->text,
                 EXACT_MAX);
        return data_free(out), false;
    }
    for (nl_arg a = 0; a < NL_ARGS; a++)
        random_keep(stream_of(c, a), !out->input[a]                   ? 0
                                     : nl_args[a].extent == NL_TENSOR ? p->n * p->c * p->s
                                                                      : p->c);
    nl_parallel_for(p->n * p->c * p->s, data_threads(p), fill, &w);
    fill_features(c, out->input);
    if (!c->kind[NL_X].value && !load_files(c, out, error, error_size))
        return data_free(out), false;
    if (data_widen(p, out)) return true;
    snprintf(error, error_size, "case %s: no memory for gamma and beta", c->text);
    return data_free(out), false;
}

void data_free(nl_data *d) {
    if (d->gamma != d->input[NL_GAMMA]) free(d->gamma);
    if (d->beta != d->input[NL_BETA]) free(d->beta);
    for (nl_arg a = 0; a < NL_ARGS; a++) free(d->input[a]);
    *d = (nl_data){0};
}
