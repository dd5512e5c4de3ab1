/* Every kind of data is a function of the element alone, so the pieces can be made in parallel and
 * in any order. SPDX-License-Identifier: MIT */
#include "cases/data.h"
#include "dtype.h"
#include "cases/museum.h"
#include "parallel.h"
#include "base/random.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a kind may depend on: element i of the tensor is element e of its group g, of m, and has
 * feature j. */
typedef struct place {
    size_t i, g, e, m, j;
} place;

enum { PICK = SLOTS }; /* the stream that decides where something special happens */

static double pick(size_t n, size_t limit) {
    return floor(random_uniform(PICK, n) * (double)limit);
}

static double normal(place at, double k) {
    return k + random_normal(X, at.i);
}

static double scaled(place at, double k) {
    return k * random_normal(X, at.i);
}

static double uniform(place at, double k) {
    (void)k;
    return 2 * random_uniform(X, at.i) - 1;
}

static double constant(place at, double k) {
    (void)k;
    return 10 * random_normal(X, at.g);
}

static double outliers(place at, double k) {
    (void)k;
    return random_normal(X, at.i) * (random_uniform(PICK, at.j) < 1.0 / 64 ? 50 : 1);
}

/* mean + size * (+1 or -1), the signs in opposite pairs: with these small integers no partial sum
 * of x or x^2 reaches 2^24. Odd groups have mean zero and a zero left over, or E[x^2] would round.
 */
static double exact(place at, double k) {
    bool small = at.m > 65536;
    double mean = pick(at.g, small ? 3 : 17) - (small ? 1 : 8);
    double size = small ? 1 : ldexp(1, (int)pick(at.g + (1ull << 40), 3));
    (void)k;
    if (at.m % 2) mean = 0;
    if (at.m % 2 && at.e == at.m - 1) return 0;
    double sign = pick(at.g * (at.m / 2 + 1) + at.e / 2 + (1ull << 41), 2) != 0 ? 1 : -1;
    return mean + size * (at.e % 2 ? -sign : sign);
}

static double zeros(place at, double k) {
    (void)at, (void)k;
    return 0;
}

/* One special value in every other group. */
static double special(place at, double value) {
    bool here = at.g % 2 == 0 && at.e == (size_t)pick(at.g, at.m);
    return here ? value : random_normal(X, at.i);
}

static double nan_somewhere(place at, double k) {
    (void)k;
    return special(at, NAN);
}

static double inf_somewhere(place at, double k) {
    (void)k;
    return special(at, at.g % 4 ? INFINITY : -INFINITY);
}

static double huge(place at, double k) {
    (void)k;
    return 1e30 * random_normal(X, at.i);
}

static double tiny(place at, double k) {
    (void)k;
    return 1e-39 * random_normal(X, at.i);
}

static double museum(place at, double k) {
    return museum_at((size_t)k)->value(at.g, at.e);
}

static const struct kind {
    const char *name;
    bool number; /* takes ":K" */
    double (*value)(place, double k);
} kinds[] = {{"normal", false, normal},     {"uniform", false, uniform},
             {"offset:", true, normal},     {"scale:", true, scaled},
             {"constant", false, constant}, {"outliers", false, outliers},
             {"exact", false, exact},       {"zeros", false, zeros},
             {"nan", false, nan_somewhere}, {"inf", false, inf_somewhere},
             {"huge", false, huge},         {"tiny", false, tiny}};
static const struct kind of_museum = {"museum:", false, museum};

const char *data_kinds(void) {
    static char text[600];
    snprintf(text, sizeof text,
             "normal, uniform, offset:K, scale:K, constant, outliers, exact, zeros, nan, inf, "
             "huge, tiny, npy:FILE.npy or museum:NAME with one of the names %s",
             museum_names());
    return text;
}

static const struct kind *find_kind(const char *data, double *k) {
    const exhibit *e = museum_find(data);
    *k = e ? (double)(e - museum_at(0)) : 0;
    if (e) return &of_museum;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].name);
        if (!kinds[i].number && strcmp(data, kinds[i].name) == 0) return &kinds[i];
        if (!kinds[i].number || strncmp(data, kinds[i].name, length) != 0) continue;
        char *end;
        *k = strtod(data + length, &end);
        if (end != data + length && *end == '\0' && isfinite(*k)) return &kinds[i];
    }
    return NULL;
}

bool data_known(const char *data) {
    double k;
    return find_kind(data, &k) || strncmp(data, "npy:", 4) == 0;
}

const char *slot_name(slot s) {
    static const char *const names[SLOTS] = {"x",      "residual",     "dy",
                                             "gamma",  "beta",         "mean",
                                             "rstd",   "running_mean", "running_var",
                                             "y",      "residual_out", "dx",
                                             "dgamma", "dbeta"};
    return names[s];
}

typedef struct job {
    const nl_case *c;
    const struct kind *kind;
    double k;
    nl_data *out;
} job;

/* The tensors, elements begin to end - 1. */
static void fill(void *context, size_t begin, size_t end) {
    const job *w = context;
    const nl_problem *p = &w->c->problem;
    bool batch = p->op == NL_BATCHNORM, is_exact = w->kind && w->kind->value == exact;
    for (size_t i = begin; i < end; i++) {
        size_t n = i / (p->c * p->s), j = i / p->s % p->c, k = i % p->s;
        place at = {i, batch ? j : n, batch ? n * p->s + k : j, batch ? p->n * p->s : p->c, j};
        double residual =
            is_exact ? floor(17 * random_uniform(RESIDUAL, i)) - 8 : random_normal(RESIDUAL, i);
        if (w->out->input[RESIDUAL])
            nl_store(p->dtype, w->out->input[RESIDUAL], i, (float)residual);
        if (w->kind) {
            double x = w->kind->value(at, w->k);
            if (is_exact && w->out->input[RESIDUAL] && !w->out->input[DY]) x -= residual;
            nl_store(p->dtype, w->out->input[X], i, (float)x);
        }
        if (w->out->input[DY]) /* its mean is not zero: a term that keeps mean(dy) must show */
            nl_store(p->dtype, w->out->input[DY], i, (float)(0.5 + random_normal(DY, i)));
    }
}

/* Which slots the case has, as inputs or outputs, and how large they are. */
static void sizes(const nl_case *c, nl_data *d, bool is_input[SLOTS]) {
    const nl_problem *p = &c->problem;
    bool batch = p->op == NL_BATCHNORM, centred = batch || p->op == NL_LAYERNORM;
    bool backward = p->pass == NL_BACKWARD, inference = p->pass == NL_INFERENCE;
    size_t tensor = p->n * p->c * p->s * nl_dtype_bytes(p->dtype), vector = p->c * sizeof(float);
    size_t groups = (batch ? p->c : p->n) * sizeof(float);
    bool in[SLOTS] = {[X] = true,
                      [RESIDUAL] = c->residual,
                      [DY] = backward,
                      [GAMMA] = !c->no_affine,
                      [BETA] = !c->no_affine && centred && !backward,
                      [MEAN] = backward && centred,
                      [RSTD] = backward,
                      [RUNNING_MEAN] = batch && !backward,
                      [RUNNING_VAR] = batch && !backward};
    bool out[SLOTS] = {[Y] = !backward,
                       [RESIDUAL_OUT] = c->residual && !backward,
                       [DX] = backward,
                       [DGAMMA] = backward,
                       [DBETA] = backward && centred,
                       [MEAN] = centred && p->pass == NL_FORWARD,
                       [RSTD] = !inference && !backward};
    for (slot s = 0; s < SLOTS; s++) {
        size_t full = s == MEAN || s == RSTD ? groups : vector;
        if (s == X || s == RESIDUAL || s == DY || s == Y || s == RESIDUAL_OUT || s == DX)
            full = tensor;
        d->bytes[s] = in[s] || out[s] ? full : 0;
        is_input[s] = in[s];
    }
}

int data_threads(const nl_problem *p) {
    return p->n * p->c * p->s < 32768 ? 1 : nl_max_threads();
}

bool data_make(const nl_case *c, nl_data *out, char *error, size_t error_size) {
    const nl_problem *p = &c->problem;
    bool is_input[SLOTS];
    job w = {.c = c, .out = out};
    *out = (nl_data){0};
    size_t most = SIZE_MAX / 1024; /* the reference needs many bytes for every element and group */
    if ((p->s && p->c > most / p->s) || (p->c && p->s && p->n > most / (p->c * p->s))) {
        snprintf(error, error_size, "case %s: n * c * s overflows", c->text);
        return false;
    }
    sizes(c, out, is_input);
    for (slot s = 0; s < SLOTS; s++) {
        if (!is_input[s]) continue;
        out->input[s] = malloc(out->bytes[s] ? out->bytes[s] : 1);
        if (out->input[s]) continue;
        snprintf(error, error_size, "no memory for %zu bytes of %s", out->bytes[s], slot_name(s));
        return data_free(out), false;
    }
    w.kind = find_kind(c->data, &w.k);
    if (w.kind && w.kind->value == exact && p->n * p->c * p->s > (4u << 20)) {
        snprintf(error, error_size, "case %s: exact data stay exact up to 4194304 elements",
                 c->text);
        return data_free(out), false;
    }
    nl_parallel_for(p->n * p->c * p->s, data_threads(p), fill, &w);
    float **f = (float **)out->input;
    bool zero_centred = p->op == NL_QWEN2_RMSNORM;
    for (size_t j = 0; j < p->c; j++) { /* never constant: a wrong index must show */
        if (f[GAMMA]) f[GAMMA][j] = (float)(!zero_centred + 0.25 * random_normal(GAMMA, j));
        if (f[BETA]) f[BETA][j] = (float)(0.5 * random_normal(BETA, j));
        if (f[RUNNING_MEAN]) f[RUNNING_MEAN][j] = (float)random_normal(RUNNING_MEAN, j);
        if (f[RUNNING_VAR]) f[RUNNING_VAR][j] = (float)(0.5 + random_uniform(RUNNING_VAR, j));
    }
    if (w.kind || data_load_files(c, out, error, error_size)) return true;
    return data_free(out), false;
}

void data_free(nl_data *d) {
    for (slot s = 0; s < SLOTS; s++) free(d->input[s]);
    free(d->model_y);
    *d = (nl_data){0};
}
