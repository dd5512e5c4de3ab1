/* Frameworks round RMSNorm in different places (docs/forward.md). Runs each rounding order through
 * the same residual chain in f16, bf16 and f32, beside a chain in long double.
 * SPDX-License-Identifier: MIT */
#include "dtype.h"
#include "layer.h"
#include "base/random.h"
#include "reference.h"
#include "studies/study.h"

#include <math.h>
#include <stdlib.h>

/* TAPS: the number of norm outputs that an element of the branch mixes. EDGE: the end of the
 * histograms; larger differences are counted at EDGE + 1. SETTLED: the first layer of the fit. */
enum { WIDTH = 1024, LAYERS = 72, TAPS = 8, EDGE = 8, SETTLED = 8 };

static const struct variant {
    const char *name;
    nl_op op;
    nl_casting casting;
    bool sum_rounded;
    enum { NO_MISTAKE, TRUNCATED, HALF_RSTD } mistake; /* made on purpose, in 16 bits only */
} variants[] = {
    {"last", NL_RMSNORM, NL_CAST_LAST, false, NO_MISTAKE},
    {"last, 1 + w", NL_QWEN2_RMSNORM, NL_CAST_LAST, false, NO_MISTAKE},
    {"before weight", NL_RMSNORM, NL_CAST_BEFORE_WEIGHT, false, NO_MISTAKE},
    {"last, sum rounded", NL_RMSNORM, NL_CAST_LAST, true, NO_MISTAKE},
    {"before weight, sum rounded", NL_RMSNORM, NL_CAST_BEFORE_WEIGHT, true, NO_MISTAKE},
    {"wrong: sum truncated", NL_RMSNORM, NL_CAST_LAST, false, TRUNCATED},
    {"wrong: rstd in 16 bits", NL_RMSNORM, NL_CAST_LAST, false, HALF_RSTD},
};
enum { VARIANTS = sizeof variants / sizeof *variants, EXACT = VARIANTS, CHAINS };

/* The parameters of a layer. Gains are multiples of 1/128 from 1/2 to 2: every type holds gain and
 * w = gain - 1 exactly. */
typedef struct layer {
    float gain[WIDTH], w[WIDTH], weight[WIDTH][TAPS];
    unsigned from[WIDTH][TAPS];
} layer;

/* The residual stream; the branch, which is added to the stream and normalized in place; y as
 * doubles. The first two arrays have the storage type; in the exact chain all arrays are double. */
typedef struct chain {
    void *stream, *branch;
    double *y;
} chain;

typedef struct state {
    nl_dtype t;
    size_t rows;
    layer l;
    chain chains[CHAINS];
    double *sum;
    long double *statistics;
    struct growth { /* sums over layers, of x = log(depth) and y = log(error) */
        double n, x, y, xx, xy;
    } growth[VARIANTS];
} state;

static void layer_make(layer *l, size_t number) {
    for (size_t i = 0; i < WIDTH; i++) {
        uint32_t word[4];
        random_words(1, number * WIDTH + i, word);
        l->gain[i] = (float)(64 + word[0] % 193) / 128;
        l->w[i] = l->gain[i] - 1;
        for (size_t k = 0; k < TAPS; k++) {
            size_t at = (number * WIDTH + i) * TAPS + k;
            random_words(2, at, word);
            l->from[i][k] = word[0] % WIDTH;
            l->weight[i][k] = (float)(random_normal(3, at) / sqrt(TAPS));
        }
    }
}

/* Element i of the branch, from a row y of the norm's output. */
static double mix(const layer *l, const double *y, size_t i) {
    double sum = 0;
    for (size_t k = 0; k < TAPS; k++) sum += (double)l->weight[i][k] * y[l->from[i][k]];
    return sum;
}

static void store_truncated(nl_dtype t, void *y, size_t i, float v) {
    nl_store(t, y, i, v);
    if (fabsf(nl_load(t, y, i)) > fabsf(v)) ((uint16_t *)y)[i]--;
}

static void norm_wrong(const state *s, const struct variant *v, chain *c) {
    for (size_t row = 0; row < s->rows * WIDTH; row += WIDTH) {
        float x[WIDTH];
        double squares = 0;
        for (size_t i = 0; i < WIDTH; i++) {
            x[i] = nl_load(s->t, c->stream, row + i) + nl_load(s->t, c->branch, row + i);
            squares += (double)x[i] * x[i];
            if (v->mistake == TRUNCATED)
                store_truncated(s->t, c->stream, row + i, x[i]);
            else
                nl_store(s->t, c->stream, row + i, x[i]);
        }
        float rstd = (float)(1 / sqrt(squares / WIDTH + 1e-6));
        if (v->mistake == HALF_RSTD) rstd = nl_round(s->t, rstd);
        for (size_t i = 0; i < WIDTH; i++)
            nl_store(s->t, c->branch, row + i, x[i] * rstd * s->l.gain[i]);
    }
}

static bool norm(const state *s, const struct variant *v, chain *c) {
    nl_problem p = {.op = v->op,
                    .dtype = s->t,
                    .casting = v->casting,
                    .n = s->rows,
                    .c = WIDTH,
                    .s = 1,
                    .eps = 1e-6f};
    nl_forward_args a = {.x = c->branch,
                         .residual = c->stream,
                         .gamma = nl_layers[v->op].plus_one ? s->l.w : s->l.gain,
                         .y = c->branch,
                         .residual_out = c->stream};
    if (v->mistake)
        norm_wrong(s, v, c);
    else if (nl_forward(NULL, &p, &a, 1) != NL_OK)
        return false;
    if (v->sum_rounded) { /* normalizes the rounded sum that the stream stores */
        a.x = c->stream, a.residual = NULL, a.residual_out = NULL;
        if (nl_forward(NULL, &p, &a, 1) != NL_OK) return false;
    }
    for (size_t i = 0; i < s->rows * WIDTH; i++) c->y[i] = nl_load(s->t, c->branch, i);
    return true;
}

static bool norm_exact(state *s) {
    nl_problem p = {.op = NL_RMSNORM, .n = s->rows, .c = WIDTH, .s = 1, .eps = 1e-6f};
    chain *c = &s->chains[EXACT];
    long double *of = s->statistics;
    ref_inputs in = {.x = c->branch, .residual = c->stream};
    ref_outputs out = {.xhat = c->y,
                       .sum = s->sum,
                       .mean = of,
                       .var = of + s->rows,
                       .rstd = of + 2 * s->rows,
                       .magnitude = of + 3 * s->rows};
    if (!ref_compute(&p, &in, &out, 1)) return false;
    double *stream = c->stream;
    c->stream = s->sum, s->sum = stream;
    for (size_t i = 0; i < s->rows * WIDTH; i++) c->y[i] *= (double)s->l.gain[i % WIDTH];
    return true;
}

/* The rank of element i among the values of the storage type: neighbours differ by one. */
static long place(nl_dtype t, const void *y, size_t i) {
    const size_t bytes = nl_dtype_bytes(t);
    uint32_t bits = 0, sign = 1u << (8 * bytes - 1);
    memcpy(&bits, (const char *)y + i * bytes, bytes);
    return bits & sign ? -(long)(bits - sign) : (long)bits;
}

/* The distance of neighbouring values at the size of v. */
static double ulp(nl_dtype t, double v) {
    int e;
    frexp(fmax(fabs(v), (double)ref_smallest_normal(t)), &e);
    return ldexp((double)ref_unit(t), e);
}

/* Fits the power of the depth with which the error grows: 1/2 if layers err independently, 1 if all
 * layers err in one direction. */
static void fit_growth(study_out *o, state *s, const struct variant *v, size_t depth,
                       double error) {
    const double x = log((double)depth), y = log(error);
    struct growth *g = &s->growth[v - variants];
    if (depth == 1) *g = (struct growth){0};
    if (depth < SETTLED || !(error > 0)) return;
    g->n++, g->x += x, g->y += y, g->xx += x * x, g->xy += x * y;
    if (depth < LAYERS) return;
    char panel[80];
    snprintf(panel, sizeof panel, "%s growth of the rms error", nl_dtype_name(s->t));
    study_point(o, panel, v->name, LAYERS,
                (g->n * g->xy - g->x * g->y) / (g->n * g->xx - g->x * g->x));
}

static void compare_chain(study_out *o, state *s, const struct variant *v, const chain *c,
                          size_t depth) {
    const char *t = nl_dtype_name(s->t);
    size_t n = s->rows * WIDTH, steps[2 * EDGE + 3] = {0};
    double error = 0, size = 0, largest = 0;
    for (size_t i = 0; i < n; i++) {
        double exact = s->chains[EXACT].y[i], off = c->y[i] - exact;
        error += off * off, size += exact * exact;
        largest = fmax(largest, fabs(off) / ulp(s->t, exact));
        long step = place(s->t, c->branch, i) - place(s->t, s->chains[0].branch, i);
        step = step > EDGE ? EDGE + 1 : step < -EDGE ? -EDGE - 1 : step;
        steps[step + EDGE + 1]++;
    }
    char panel[80];
    snprintf(panel, sizeof panel, "%s rms error by layer", t);
    study_point(o, panel, v->name, (double)depth, sqrt(error / size) / (double)ref_unit(s->t));
    fit_growth(o, s, v, depth, sqrt(error / size));
    snprintf(panel, sizeof panel, "%s share that differs by layer", t);
    study_point(o, panel, v->name, (double)depth, (double)(n - steps[EDGE + 1]) / (double)n);
    if (depth == 1) {
        snprintf(panel, sizeof panel, "%s largest error, ulp", t);
        study_point(o, panel, v->name, (double)depth, largest);
    }
    snprintf(panel, sizeof panel, "%s steps apart, layer %zu", t, depth);
    for (int k = -EDGE - 1; k <= EDGE + 1 && (depth == 1 || depth == LAYERS); k++)
        study_point(o, panel, v->name, k, (double)steps[k + EDGE + 1] / (double)n);
}

/* All chains start with the same normal numbers, rounded to the storage type. */
static void start(state *s) {
    for (size_t i = 0; i < s->rows * WIDTH; i++) {
        float x = nl_round(s->t, (float)random_normal(4, i));
        float branch = nl_round(s->t, (float)random_normal(5, i));
        ((double *)s->chains[EXACT].stream)[i] = (double)x,
                 ((double *)s->chains[EXACT].branch)[i] = (double)branch;
        for (int v = 0; v < VARIANTS; v++) {
            nl_store(s->t, s->chains[v].stream, i, x);
            nl_store(s->t, s->chains[v].branch, i, branch);
        }
    }
}

static bool run_type(study_out *o, state *s) {
    char what[40];
    snprintf(what, sizeof what, "%d layers in %s", LAYERS, nl_dtype_name(s->t));
    start(s);
    for (size_t depth = 1; depth <= LAYERS; depth++) {
        study_progress(o, (size_t)s->t * LAYERS + depth - 1, NL_DTYPES * LAYERS, what);
        layer_make(&s->l, depth);
        if (!norm_exact(s)) return false;
        for (int v = 0; v < VARIANTS; v++) {
            if (s->t == NL_F32 && variants[v].mistake) continue;
            if (!norm(s, &variants[v], &s->chains[v])) return false;
            compare_chain(o, s, &variants[v], &s->chains[v], depth);
        }
        for (size_t i = 0; i < s->rows * WIDTH; i++) {
            size_t row = i - i % WIDTH, j = i % WIDTH;
            ((double *)s->chains[EXACT].branch)[i] = mix(&s->l, s->chains[EXACT].y + row, j);
            for (int v = 0; v < VARIANTS; v++)
                nl_store(s->t, s->chains[v].branch, i, (float)mix(&s->l, s->chains[v].y + row, j));
        }
    }
    return true;
}

static bool run(study_out *o, bool quick) {
    state *s = calloc(1, sizeof *s);
    if (!s) return false;
    s->rows = quick ? 16 : 128;
    size_t bytes = s->rows * WIDTH * sizeof(double);
    bool ok =
        (s->sum = malloc(bytes)) && (s->statistics = malloc(4 * s->rows * sizeof(long double)));
    for (chain *c = s->chains; c < s->chains + CHAINS; c++)
        ok = (c->stream = malloc(bytes)) && (c->branch = malloc(bytes)) && (c->y = malloc(bytes)) &&
             ok;
    for (s->t = NL_F32; ok && s->t < NL_DTYPES; s->t++) ok = run_type(o, s);
    for (chain *c = s->chains; c < s->chains + CHAINS; c++)
        free(c->stream), free(c->branch), free(c->y);
    free(s->sum), free(s->statistics), free(s);
    return ok;
}

const study study_casting = {"casting",
                             "Does it matter where a framework rounds, in one layer and in 72?",
                             run};
