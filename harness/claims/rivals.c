/* SPDX-License-Identifier: MIT */
#include "claims/rivals.h"
#include "base/random.h"
#include "claims/pointwise.h"
#include "models/blas.h"
#include "models/step.h"
#include "normlab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a rival multiplies by the next layer's weights, [c][c]. */
enum { NO_PRODUCT, AFTER_NORM, BEFORE_NORM };

typedef struct rival {
    const char *name, *words;
    const char *layer, *impl, *isa; /* impl: a rung, or "best"; isa NULL: plain C */
    bool one_row;                   /* the choice of nl_best() for a single row */
    bool plain; /* the norm has no gain; if a product follows, its weights contain the gain */
    bool pointwise, scalar;
    pointwise_kind f;
    int product;
    int norms; /* gated norms in a training step; 0: there is no step */
} rival;

#define PIPELINED "optimized/rows_pipelined"

#define LAYERNORM(name, words) name, words, .layer = "layernorm"
#define RMSNORM(name, words) name, words, .layer = "rmsnorm"

static const rival rivals[] = {
    {LAYERNORM("welford", "LayerNorm in plain C, Welford"), .impl = "layernorm/welford"},
    {LAYERNORM("layernorm_avx2", "LayerNorm in AVX2"), .impl = PIPELINED, .isa = "avx2"},
    {LAYERNORM("layernorm", "LayerNorm"), .impl = "best"},
    {RMSNORM("rmsnorm_naive", "RMSNorm in plain C"), .impl = "rmsnorm/naive"},
    {RMSNORM("rmsnorm_avx2", "RMSNorm in AVX2"), .impl = PIPELINED, .isa = "avx2"},
    {RMSNORM("rmsnorm", "RMSNorm"), .impl = "best"},
    {RMSNORM("one_row", "RMSNorm as chosen for one row"), .impl = "best", .one_row = true},
    {RMSNORM("weightless", "RMSNorm without a gain"), .impl = "best", .plain = true},
    {LAYERNORM("dyt_plain", "Dynamic Tanh in plain C"), .pointwise = true, .scalar = true},
    {LAYERNORM("dyt", "Dynamic Tanh"), .pointwise = true},
    {LAYERNORM("derf_plain", "Derf in plain C"), .pointwise = true, .scalar = true,
     .f = POINTWISE_ERF},
    {LAYERNORM("derf", "Derf"), .pointwise = true, .f = POINTWISE_ERF},
    {RMSNORM("project", "RMSNorm, then a product"), .impl = "best", .product = AFTER_NORM},
    {RMSNORM("folded", "the gain folded into the product"), .impl = "best", .plain = true,
     .product = AFTER_NORM},
    {RMSNORM("deferred", "folded, and the norm after the product"), .plain = true,
     .product = BEFORE_NORM},
    {"step", "a training step", .layer = "gated_rmsnorm", .impl = "best", .norms = 1},
    {"step_again", "a training step that computes a gated norm again", .layer = "gated_rmsnorm",
     .impl = "best", .norms = 2},
};
enum { RIVALS = sizeof rivals / sizeof *rivals, TOKENS = 64 };

bool rivals_name(size_t i, const char **name, const char **words) {
    if (i >= RIVALS) return false;
    return *name = rivals[i].name, *words = rivals[i].words, true;
}

/* Finds the two names of "FIRST>SECOND". */
static bool find(const char *how, size_t which[2]) {
    const size_t length = strcspn(how, ">");
    bool found[2] = {false, false};
    for (size_t i = 0; how[length] && i < RIVALS; i++) {
        if (strlen(rivals[i].name) == length && strncmp(rivals[i].name, how, length) == 0)
            which[0] = i, found[0] = true;
        if (strcmp(rivals[i].name, how + length + 1) == 0) which[1] = i, found[1] = true;
    }
    return found[0] && found[1];
}

const char *rivals_words(const char *how) {
    static char text[160];
    size_t which[2];
    if (!find(how, which)) return NULL;
    snprintf(text, sizeof text, "%s against %s", rivals[which[1]].words, rivals[which[0]].words);
    return text;
}

/* A rival with its buffers. Both rivals of a pair have the same x, gamma and w. */
typedef struct contender {
    const rival *of;
    candidate norm; /* the rival's fixture, and its rung (NULL: none) */
    float *w, *z;   /* the product's second factor [c][c], and the result [n][c] */
    const pointwise_isa *isa;
    step *model;
} contender;

static const nl_problem *problem_of(const contender *k) {
    return &k->norm.on[0]->c.problem;
}

/* Does call() compute the rival? Any other rival is one rung, run on the whole fixture. */
static bool is_special(const contender *k) {
    return k->of->plain || k->of->product || k->of->pointwise || k->of->norms;
}

static void multiply(const contender *k, const float *from) {
    const size_t n = problem_of(k)->n, c = problem_of(k)->c;
    blas_multiply(n, c, c, 1, (matrix){from, c, false}, (matrix){k->w, c, false}, 0, k->z, c);
}

/* RMSNorm commutes with the product, because it only scales each row. */
static void product_first(const contender *k, const float *x) {
    const nl_problem *p = problem_of(k);
    multiply(k, x);
    for (size_t r = 0; r < p->n; r++) {
        const float squares = k->isa->squares(x + r * p->c, p->c),
                    rstd = 1 / sqrtf(squares / (float)p->c + p->eps);
        for (size_t i = r * p->c; i < (r + 1) * p->c; i++) k->z[i] *= rstd;
    }
}

static void normalize(const contender *k) {
    const instance *in = k->norm.on[0]->in;
    nl_forward(k->norm.impl[0], problem_of(k),
               &(nl_forward_args){.x = in->at[NL_X],
                                  .gamma = k->of->plain ? NULL : in->at[NL_GAMMA],
                                  .gate = in->at[NL_GATE],
                                  .y = in->at[NL_Y],
                                  .rstd = in->at[NL_RSTD],
                                  .scratch = in->scratch},
               1);
}

/* The model's step evicts the norm's inputs from the caches, as in a model of many layers. */
static void train(const contender *k) {
    normalize(k);
    step_forward(k->model);
    if (k->of->norms > 1) normalize(k);
    step_backward(k->model);
}

static void call(void *context, size_t turn) {
    const contender *k = context;
    const instance *in = k->norm.on[0]->in;
    const nl_problem *p = problem_of(k);
    const float *x = in->at[NL_X], *gamma = in->at[NL_GAMMA], *beta = in->at[NL_BETA];
    (void)turn;
    if (k->of->pointwise)
        k->isa->layer(&(pointwise_job){x, gamma, beta, in->at[NL_Y], p->n, p->c}, k->of->f);
    else if (k->of->product == BEFORE_NORM)
        product_first(k, x);
    else
        (k->of->norms ? train : normalize)(k);
    if (k->of->product == AFTER_NORM) multiply(k, in->at[NL_Y]);
}

static bool fail(race *r, const char *what) {
    return snprintf(r->why, sizeof r->why, "%s", what), false;
}

static const nl_impl *impl_of(const rival *of, const nl_problem *p) {
    nl_problem one = *p;
    one.n = 1;
    if (strcmp(of->impl, "best") == 0) return nl_best(of->one_row ? &one : p, 1);
    const nl_impl *found = nl_find(of->impl, of->isa ? of->isa : "c");
    return found && nl_isa_runs(found->isa) ? found : NULL;
}

/* Returns floats that begin at a cache line; on other floats a product of one row takes longer. */
static float *floats(size_t count) {
    return aligned_alloc(64, (count + 15) / 16 * 16 * sizeof(float));
}

/* w is N(0, 1 / c); if gamma is folded into w, row j of w is multiplied by gamma[j]. */
static bool make_product(race *r, contender *k) {
    const char *why;
    const size_t n = problem_of(k)->n, c = problem_of(k)->c;
    const float *gamma = k->norm.on[0]->data.input[NL_GAMMA];
    if (!blas_open(&why)) return snprintf(r->why, sizeof r->why, "not measured: %s", why), false;
    k->w = floats(c * c), k->z = floats(n * c);
    if (!k->w || !k->z) return fail(r, "out of memory");
    for (size_t i = 0; i < c * c; i++)
        k->w[i] =
            (float)(random_normal(40, i) / sqrt((double)c)) * (k->of->plain ? gamma[i / c] : 1);
    return true;
}

/* Makes one step for both contenders, so that only the norm differs. The case's rows are the heads
 * of TOKENS tokens; the block is as wide as all heads of a token. */
static bool make_step(race *r, contender *a, contender *b, step *s) {
    const contender *k = a->of->norms ? a : b;
    const size_t heads = problem_of(k)->n / TOKENS, width = heads * problem_of(k)->c;
    const char *why;
    if (!k->of->norms) return true;
    if (!heads || problem_of(k)->n % TOKENS || width % 4)
        return fail(r, "N should be 64 times the heads, and heads * C a multiple of 4");
    if (!blas_open(&why)) return snprintf(r->why, sizeof r->why, "not measured: %s", why), false;
    if (!step_make(s, &(step_shape){"", width, heads, heads, width / 4 * 11, true}, TOKENS, 0,
                   true))
        return fail(r, "out of memory");
    s->op = NL_RMSNORM;
    a->model = b->model = s;
    return true;
}

static bool make(race *r, const rival *of, const char *tail, contender *k) {
    char text[CASE_TEXT];
    snprintf(text, sizeof text, "%s/%s", of->layer, tail);
    *k = (contender){.of = of, .norm = {.threads = 1}, .isa = pointwise_find(of->scalar)};
    if (!(k->norm.on[0] = fixtures_get(&r->all, text, r->why, sizeof r->why))) return false;
    const nl_case *c = &k->norm.on[0]->c;
    if (is_special(k) && (c->problem.pass != NL_FORWARD || c->text[c->options]))
        return fail(r, "this rival computes only forward without options");
    if ((of->pointwise || of->product || of->norms) && c->problem.dtype != NL_F32)
        return fail(r, "this rival computes only f32");
    if (of->impl && !(k->norm.impl[0] = impl_of(of, problem_of(k))))
        return fail(r, "not measured: this processor does not run this rival");
    return !of->product || make_product(r, k);
}

/* Is result i right? A sum of c terms may be off by c roundings of the sum of |term|. */
static bool is_near(const contender *k, size_t i) {
    const fixture *on = k->norm.on[0];
    const float *gamma = on->data.input[NL_GAMMA], *beta = on->data.input[NL_BETA],
                *x = on->data.input[NL_X], *y = on->in->at[NL_Y];
    const size_t c = problem_of(k)->c, at = i % c;
    double want = 0, size = 0;
    if (k->of->pointwise) {
        const double v = (double)(POINTWISE_ALPHA * x[i]), g = (double)gamma[at],
                     b = (double)beta[at];
        want = g * (k->of->f == POINTWISE_TANH ? tanh(v) : erf(v)) + b;
        return fabs((double)y[i] - want) <= (POINTWISE_UNITS + 2) * 0x1p-24 * (fabs(g) + fabs(b));
    }
    const double *xhat = on->want.want.xhat;
    const nl_dtype t = problem_of(k)->dtype;
    if (!k->of->product)
        return fabs((double)nl_load(t, y, i) - xhat[i]) <=
               ((double)c * 0x1p-24 + (double)ref_unit(t)) * fmax(1, fabs(xhat[i]));
    for (size_t j = 0; j < c; j++) {
        const double term =
            xhat[i - at + j] * (double)k->w[j * c + at] * (k->of->plain ? 1 : (double)gamma[j]);
        want += term, size += fabs(term);
    }
    return fabs((double)k->z[i] - want) <= (double)c * 0x1p-24 * size;
}

static bool is_right(race *r, contender *k) {
    const size_t count = problem_of(k)->n * problem_of(k)->c;
    if (!is_special(k) || k->of->norms) {
        verdict v = k->norm.after;
        if (v.outcome != OUTCOME_FAIL) v = candidate_verify(&k->norm);
        if (v.outcome == OUTCOME_FAIL || !k->of->norms)
            return v.outcome != OUTCOME_FAIL || fail(r, v.why);
    }
    call(k, 0);
    if (k->of->norms) {
        const verdict v = outputs_check(k->norm.on[0]->in, &k->norm.on[0]->want);
        return v.outcome != OUTCOME_FAIL || fail(r, v.why);
    }
    for (size_t i = 0; i < count; i += 61)
        if (!is_near(k, i)) return fail(r, "the results of one rival are wrong");
    return true;
}

static measure_candidate measured(contender *k) {
    return is_special(k) ? (measure_candidate){.call = call, .context = k}
                         : candidate_measured(&k->norm);
}

bool rivals_race(race *r, const char *how, const char *tail, race_result *out) {
    size_t which[2];
    contender a = {0}, b = {0};
    step model = {0};
    if (!find(how, which)) return fail(r, "no such pair: `normlab claims --help` lists the names");
    bool ok = make(r, &rivals[which[0]], tail, &a) && make(r, &rivals[which[1]], tail, &b) &&
              make_step(r, &a, &b, &model) && is_right(r, &a) && is_right(r, &b);
    ok = ok && race_candidates(r, measured(&a), measured(&b), out) && is_right(r, &a) &&
         is_right(r, &b);
    free(a.w), free(a.z), free(b.w), free(b.z);
    step_free(&model);
    return ok;
}

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
    const pointwise_isa *widest = all; /* plain C is first, the widest ISA is last */
    for (size_t i = 1; i < sizeof all / sizeof *all && !plain; i++)
        if (nl_isa_runs(all[i].name)) widest = &all[i];
    return widest;
}
