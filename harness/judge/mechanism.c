/* The known mistakes, each one change of the right formula. SPDX-License-Identifier: MIT */
#include "judge/mechanism.h"
#include "layer.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum mistake {
    EPS_OUTSIDE,
    EPS_MISSING,
    EPS_OTHER, /* the first of one for each of other_eps[] */
    EPS_LAST = EPS_OTHER + 7,
    ROOT_MISSING,
    UNBIASED,
    GAIN_PLUS_ONE,
    GAIN_PLAIN,
    GAMMA_MISSING,
    BETA_MISSING,
    CAST_LAST,
    CAST_BEFORE,
    RESIDUAL_IGNORED,
    RESIDUAL_ROUNDED,
    MEAN_KEPT,
    MEAN_SUBTRACTED,
    STATS_ALL,
    STATS_ROWS,
    STATS_COLUMNS,
    STATS_INSTANCE,
    STATS_POSITION,
    STATS_TWO_AXES,
    STATS_BATCH,
    SUMS_IN_16_BITS,
    STORED_F16,
    STORED_BF16,
    NOT_NORMALIZED,
    EPS_FITTED,
    FACTOR,
    OFFSET,
    MISTAKES
} mistake;

_Static_assert((int)MISTAKES <= (int)HYPOTHESES_MAX, "one hypothesis for each mistake");

static const double other_eps[] = {1e-12, 1e-8, 1e-6, 1e-5, 1e-3, FLT_EPSILON, 0x1p-10, 0x1p-7};
static const char *const eps_names[] = {"1e-12",
                                        "1e-8",
                                        "1e-6",
                                        "1e-5",
                                        "1e-3",
                                        "FLT_EPSILON, 2^-23",
                                        "2^-10, f16's epsilon",
                                        "2^-7, bf16's epsilon"};

static const struct {
    const char *name, *text;
} known[MISTAKES] = {
    [EPS_OUTSIDE] = {"eps-outside", "eps outside the root: 1 / (sqrt(var) + eps)"},
    [EPS_MISSING] = {"eps-missing", "no eps"},
    [ROOT_MISSING] = {"root-missing", "divided by the variance, not by its root"},
    [UNBIASED] = {"unbiased", "unbiased variance: n - 1 for n"},
    [GAIN_PLUS_ONE] = {"gain-plus-one", "a gain of 1 + gamma for gamma"},
    [GAIN_PLAIN] = {"gain-plain", "a gain of gamma for 1 + gamma"},
    [GAMMA_MISSING] = {"gamma-missing", "gamma was not applied"},
    [BETA_MISSING] = {"beta-missing", "beta was not added"},
    [CAST_LAST] = {"cast-last", "cast last, not before the weight"},
    [CAST_BEFORE] = {"cast-before-weight", "cast before the weight, not last"},
    [RESIDUAL_IGNORED] = {"residual-ignored", "the residual was not added"},
    [RESIDUAL_ROUNDED] = {"residual-rounded", "x + residual was rounded before it was normalized"},
    [MEAN_KEPT] = {"mean-kept", "the mean was not subtracted: RMSNorm"},
    [MEAN_SUBTRACTED] = {"mean-subtracted", "the mean was subtracted: LayerNorm"},
    [STATS_ALL] = {"stats-all", "statistics over all elements"},
    [STATS_ROWS] = {"stats-rows", "statistics per sample, over its channels: LayerNorm"},
    [STATS_COLUMNS] = {"stats-columns", "statistics per feature, over the rows: BatchNorm"},
    [STATS_INSTANCE] = {"stats-instance", "statistics per sample and channel: InstanceNorm"},
    [STATS_POSITION] = {"stats-position", "statistics per channel and place, over the samples"},
    [STATS_TWO_AXES] = {"stats-two-axes", "statistics over the last two axes"},
    [STATS_BATCH] = {"stats-batch", "statistics of the batch, not the running ones: training"},
    [SUMS_IN_16_BITS] = {"low-sums", "sums and squares in 16 bits, one after another"},
    [STORED_F16] = {"stored-f16", "y was rounded to f16, then widened"},
    [STORED_BF16] = {"stored-bf16", "y was rounded to bf16, then widened"},
    [NOT_NORMALIZED] = {"not-normalized", "gamma and beta on x itself, not normalized"},
};

/* Changes the formula. False: the mistake makes no sense for the subject, or changes nothing. */
static bool make(const subject *s, mistake m, formula *r) {
    const nl_problem *p = s->p;
    const nl_layer *l = &nl_layers[p->op];
    bool batch = l->by_channel, measured = !r->inference, wide = p->dtype == NL_F32;
    bool narrow = s->narrow != NL_F32;
    bool halves = !wide && (s->in->gamma || s->in->beta);
    if (m >= EPS_OTHER && m <= EPS_LAST) {
        r->eps = other_eps[m - EPS_OTHER];
        return fabs((double)r->eps - p->eps) > 1e-3 * p->eps;
    }
    switch (m) {
    case EPS_OUTSIDE: r->root = OUTSIDE; return r->eps > 0;
    case EPS_MISSING: r->eps = 0; return p->eps > 0;
    case ROOT_MISSING: r->root = NO_ROOT; return true;
    case UNBIASED: r->unbiased = true; return r->centred && measured && nl_group_size(p) > 1;
    case GAIN_PLUS_ONE: r->gain_plus_one = true; return s->in->gamma && !l->plus_one;
    case GAIN_PLAIN: r->gain_plus_one = false; return s->in->gamma && l->plus_one;
    case GAMMA_MISSING: r->no_gamma = true; return s->in->gamma;
    case BETA_MISSING: r->no_beta = true; return s->in->beta;
    case CAST_LAST: r->casting = NL_CAST_LAST; return halves && p->casting != r->casting;
    case CAST_BEFORE: r->casting = NL_CAST_BEFORE_WEIGHT; return halves && p->casting != r->casting;
    case RESIDUAL_IGNORED: r->residual = IGNORED; return s->in->residual;
    case RESIDUAL_ROUNDED: r->residual = ROUNDED; return s->in->residual && narrow;
    case MEAN_KEPT: r->centred = false; return !batch && l->centred;
    case MEAN_SUBTRACTED: r->centred = true; return !batch && !l->centred;
    case STATS_ALL: r->axis = EVERYTHING; return measured && nl_group_count(p) > 1;
    case STATS_ROWS: r->axis = FEATURES; return batch && measured;
    case STATS_COLUMNS: r->axis = CHANNELS; return !batch && p->n > 1;
    case STATS_INSTANCE: r->axis = INSTANCES; return batch && measured && p->s > 1 && p->n > 1;
    case STATS_POSITION: r->axis = POSITIONS; return batch && measured && p->s > 1 && p->n > 1;
    case STATS_TWO_AXES: r->axis = TWO_AXES; return s->rows_together > 1 && s->rows_together < p->n;
    case STATS_BATCH: r->inference = false; return !measured;
    case SUMS_IN_16_BITS: r->sums_in_16_bits = true; return narrow && measured;
    case STORED_F16: r->rounded = true, r->stored = NL_F16; return wide;
    case STORED_BF16: r->rounded = true, r->stored = NL_BF16; return wide;
    case NOT_NORMALIZED: r->not_normalized = true; return true;
    default: return false;
    }
}

/* truth: the mismatch of the right formula. */
static void evaluate(workspace *w, const formula *f, hypothesis *h, const mismatch *truth) {
    formula_evaluate(w, f);
    h->left = formula_residual(w);
    h->removes = truth->rms > 0 ? 1 - h->left.rms / truth->rms : 0;
    h->explains = h->removes >= MECHANISM_ENOUGH && h->left.not_finite <= truth->not_finite;
}

static int better(const void *a, const void *b) {
    const hypothesis *x = a, *y = b;
    if (x->explains != y->explains) return y->explains - x->explains;
    if (x->explains && y->explains && x->fitted != y->fitted) return x->fitted - y->fitted;
    return (x->left.rms > y->left.rms) - (x->left.rms < y->left.rms);
}

bool mechanism_test(const subject *s, hypothesis out[HYPOTHESES_MAX], size_t *found) {
    workspace w;
    size_t count = 0;
    double factor, offset;
    if (!workspace_open(&w, s)) return false;
    formula right = formula_right(s);
    formula_evaluate(&w, &right);
    const mismatch truth = formula_residual(&w);
    formula_fit_line(&w, &factor, &offset);
    for (mistake m = 0; m < MISTAKES; m++) {
        formula r = right;
        hypothesis *h = &out[count];
        *h = (hypothesis){.fitted = m >= EPS_FITTED};
        if (m >= EPS_OTHER && m <= EPS_LAST) {
            snprintf(h->name, sizeof h->name, "eps-%.3g", other_eps[m - EPS_OTHER]);
            snprintf(h->text, sizeof h->text, "eps = %s", eps_names[m - EPS_OTHER]);
        } else if (!h->fitted) {
            snprintf(h->name, sizeof h->name, "%s", known[m].name);
            snprintf(h->text, sizeof h->text, "%s", known[m].text);
        } else if (m == EPS_FITTED) {
            r.eps = formula_fit_eps(&w);
            snprintf(h->name, sizeof h->name, "eps-fitted");
            snprintf(h->text, sizeof h->text, "eps = %.3Lg, fitted", r.eps);
            if (!(r.eps >= 0)) continue;
        } else if (m == FACTOR) {
            r.factor = factor;
            snprintf(h->name, sizeof h->name, "factor");
            snprintf(h->text, sizeof h->text, "y times the constant %.7g, fitted", factor);
        } else {
            r.offset = offset;
            snprintf(h->name, sizeof h->name, "offset");
            snprintf(h->text, sizeof h->text, "y plus the constant %.4g, fitted", offset);
        }
        if (!h->fitted && !make(s, m, &r)) continue;
        if (h->fitted && w.count < 8) continue; /* a fitted number explains few elements too well */
        evaluate(&w, &r, h, &truth);
        /* Leaves out a mistake without effect, as with a gamma of ones or a beta of zeros. */
        count += h->left.rms != truth.rms || h->left.largest != truth.largest;
    }
    workspace_close(&w);
    qsort(out, count, sizeof *out, better);
    *found = count;
    return true;
}
