/* SPDX-License-Identifier: MIT */
#include "judge/mechanism.h"
#include "layer.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

formula *mistake_add(mistake_list *l, const char *name, size_t number, const char *format, ...) {
    mistake *m = &l->out[l->count < MISTAKES_MAX - 1 ? l->count++ : l->count];
    va_list more;
    va_start(more, format);
    *m = (mistake){.formula = l->right};
    snprintf(m->name, sizeof m->name, number ? "%s-%zu" : "%s", name, number);
    vsnprintf(m->text, sizeof m->text, format, more);
    va_end(more);
    return &m->formula;
}

static void mistake_prefix(mistake_list *l, const char *prefix) {
    mistake *m = &l->out[l->count - 1];
    char name[sizeof m->name];
    snprintf(name, sizeof name, "%s%.20s", prefix, m->name);
    memcpy(m->name, name, sizeof name);
}

static const struct {
    const char *name, *text;
    double eps;
} other_eps[] = {{"eps-missing", "no eps", 0},
                 {"eps-1e-12", "eps = 1e-12", 1e-12},
                 {"eps-1e-08", "eps = 1e-8", 1e-8},
                 {"eps-1e-06", "eps = 1e-6", 1e-6},
                 {"eps-1e-05", "eps = 1e-5", 1e-5},
                 {"eps-0.001", "eps = 1e-3", 1e-3},
                 {"eps-1.19e-07", "eps = FLT_EPSILON, 2^-23", FLT_EPSILON},
                 {"eps-0.000977", "eps = 2^-10, f16's epsilon", 0x1p-10},
                 {"eps-0.00781", "eps = 2^-7, bf16's epsilon", 0x1p-7}};

static double largest_x(const subject *s) {
    double most = 0;
    for (size_t i = 0; i < s->p->n * s->p->c * s->p->s; i++)
        if (isfinite(s->in->x[i])) most = fmax(most, fabs(s->in->x[i]));
    return most;
}

static void add_eps(mistake_list *l) {
    const double right = (double)l->right.eps;
    for (size_t i = 0; i < sizeof other_eps / sizeof *other_eps; i++)
        if (fabs(other_eps[i].eps - right) > 1e-3 * right)
            mistake_add(l, other_eps[i].name, 0, "%s", other_eps[i].text)->eps = other_eps[i].eps;
    mistake_add(l, "eps-largest", 0,
                "eps as the least variance: max(var, eps) instead of var + eps")
        ->root = LARGER_ONE;
    mistake_add(l, "eps-in-sum", 0, "eps was added to the sum of squares, before its division by n")
        ->eps /= (long double)nl_group_size(l->s->p);
}

static const char *type_text(int t) {
    return nl_dtype_name((nl_dtype)t);
}

/* Values that should stay floats but were rounded to 16 bits: a mistake for each value and type. */
static const struct {
    int what;
    const char *name, *text;
} roundings[] = {{A_X, "x", "x was"},
                 {A_SUM, "sum", "x + residual was"},
                 {A_SUM_LATE, "late-sum", "x + residual, in y but not in the statistics, was"},
                 {A_GAMMA, "gamma", "gamma was"},
                 {A_GAIN, "gain", "1 + gamma was"},
                 {A_BETA, "beta", "beta was"},
                 {A_MEAN, "mean", "the mean was"},
                 {A_RSTD, "rstd", "rstd was"},
                 {A_MEAN | A_RSTD, "statistics", "mean and rstd were"},
                 {AN_XHAT, "xhat", "xhat was"},
                 {AN_OUTPUT, "stored", ""},
                 {A_PRODUCT, "product", "gain * xhat, before beta or the gate, was"},
                 {A_VARIANCE, "variance", "the variance, or mean square, was"},
                 {A_SCALE, "scale", "the scale, gain * rstd, was"},
                 {A_FOLD, "fold", "scale and shift of y = x * scale + shift were"},
                 {A_DY, "dy", "dy was"},
                 {A_MEAN_OF_G, "means", "the means of g and g * xhat were"},
                 {A_DGAMMA, "dgamma", "dgamma was"},
                 {A_DBETA, "dbeta", "dbeta was"},
                 {A_DGAMMA | A_DBETA, "gradients", "dgamma and dbeta were"},
                 {STEPS | A_MEAN, "steps", "every step was"}};

static void add_rounding(mistake_list *l, size_t i, int type, bool cut) {
    const bool stored = roundings[i].what == AN_OUTPUT;
    const char *output = l->s->p->pass == NL_BACKWARD ? "dx was" : "y was";
    char name[24];
    snprintf(name, sizeof name, "%s-%s%s", roundings[i].name, cut ? "cut-" : "", type_text(type));
    formula *f =
        mistake_add(l, name, 0, "%s rounded %sto %s%s%s", stored ? output : roundings[i].text,
                    cut ? "towards zero " : "", type_text(type), cut ? ", not to nearest" : "",
                    stored && l->s->p->dtype == NL_F32 ? ", then widened" : "");
    f->rounds = roundings[i].what, f->to = type, f->cuts_off = cut;
}

static void add_roundings(mistake_list *l) {
    const int backward = A_DY | A_MEAN_OF_G | A_DGAMMA | A_DBETA;
    for (int type = NL_F16; type <= NL_BF16; type++)
        for (size_t i = 0; i < sizeof roundings / sizeof *roundings; i++) {
            const int what = roundings[i].what;
            const bool both = what == (A_MEAN | A_RSTD) || what == (A_DGAMMA | A_DBETA);
            if ((what & backward) && l->s->p->pass != NL_BACKWARD) continue;
            if ((what & (A_SCALE | A_FOLD | A_PRODUCT)) && l->s->p->pass == NL_BACKWARD) continue;
            if ((what & A_VARIANCE) && l->s->p->pass != NL_FORWARD) continue;
            if ((what & A_PRODUCT) && !l->s->in->beta && !(l->right.gate & GATE_LAST)) continue;
            if (what == A_SUM_LATE && !l->s->in->residual) continue;
            if (both && !(l->right.centred && (what & A_MEAN)) && !l->s->got[NL_DBETA]) continue;
            /* rounding xhat to the storage type is a cast before the weight */
            if (what == AN_XHAT && type == (int)l->s->p->dtype) continue;
            if ((what & A_GAIN) && l->right.gain != ONE_PLUS) continue;
            if (what != AN_OUTPUT || type != (int)l->s->p->dtype) /* else it is no mistake */
                add_rounding(l, i, type, false);
            if (what & (A_X | A_SUM | AN_OUTPUT)) add_rounding(l, i, type, true);
        }
}

/* Adds roundings to fewer than 16 bits or to TF32. scaled: the largest |x| is scaled to 448. */
static void add_formats(mistake_list *l) {
    static const struct {
        int what, to;
        bool scaled;
        const char *name, *text;
    } formats[] = {{A_X, TF32, false, "x-tf32", "x was rounded to TF32"},
                   {A_X, E4M3, false, "x-e4m3", "x was rounded to fp8 e4m3"},
                   {A_X, E4M3, true, "x-e4m3-scaled", "x was rounded to fp8 e4m3, with a scale"},
                   {A_X, E5M2, false, "x-e5m2", "x was rounded to fp8 e5m2"},
                   {A_X, BITS_4, false, "x-4-bits", "x was rounded to 4 bits, as in fp8 e4m3"},
                   {A_GAMMA, E4M3, false, "gamma-e4m3", "gamma was rounded to fp8 e4m3"},
                   {AN_OUTPUT, E4M3, false, "stored-e4m3", "the output was rounded to fp8 e4m3"},
                   {AN_OUTPUT, E5M2, false, "stored-e5m2", "the output was rounded to fp8 e5m2"}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        formula *f = mistake_add(l, formats[i].name, 0, "%s", formats[i].text);
        f->rounds = formats[i].what, f->to = formats[i].to;
        if (formats[i].scaled) f->step = largest_x(l->s) / 448;
    }
}

/* Adds mistakes in which the sums, or only the squares, have a narrower type. overflow: only types
 * that x^2 overflows; else only the other types. */
static void add_narrow_sums(mistake_list *l, bool overflow) {
    const double most = largest_x(l->s);
    static const nl_dtype widest_first[] = {NL_F32, NL_BF16, NL_F16};
    bool over = false;
    for (size_t i = 0; i < 3 && !(overflow && over); i++) {
        const nl_dtype type = widest_first[i];
        const long double largest = ref_largest(type);
        over = (long double)most * most > largest;
        if (over != overflow) continue;
        formula *f = mistake_add(l, type_text(type), 0,
                                 overflow ? "x^2 overflows %s if |x| > %.3g: rstd is 0"
                                          : "the squares were rounded to %s",
                                 type_text(type), (double)sqrtl(largest));
        f->squares_in = (int)type + 1;
        mistake_prefix(l, "squares-in-");
        f = mistake_add(l, type_text(type), 0,
                        type == NL_F32
                            ? "sums and squares in %s, added one after another, lose digits"
                            : "sums and squares in 16 bits (%s), added one after another",
                        type_text(type));
        f->sums_in = (int)type + 1;
        mistake_prefix(l, "sums-in-");
        if (type == NL_F32) continue;
        f = mistake_add(l, type_text(type), 0,
                        "sums of f32 terms, added one after another in 16 bits (%s)",
                        type_text(type));
        f->sums_in = (int)type + 1, f->terms_exact = 1;
        mistake_prefix(l, "totals-in-");
    }
}

/* Adds statistics over several axes of x, or over groups of features. */
static void add_axes(mistake_list *l) {
    static const char *const words[] = {"two", "three", "four", "five", "six", "seven", "eight"};
    const nl_problem *p = l->s->p;
    const bool channels = nl_layers[p->op].by_channel;
    for (size_t k = 0; k < SUBJECT_AXES - 1 && l->s->rows[k]; k++) {
        const size_t rows = l->s->rows[k];
        if (rows <= 1 || rows >= p->n) continue;
        formula *f =
            mistake_add(l, "stats-axes", k + 2, "statistics over the last %s axes", words[k]);
        f->axis = ROWS_TOGETHER, f->together = rows;
    }
    for (size_t parts = 2; parts <= 64 && parts < p->n && channels; parts++) {
        if (p->n % parts) continue;
        formula *f =
            mistake_add(l, "stats-parts", parts,
                        "statistics of each of %zu parts of the batch: not synchronized", parts);
        f->axis = BATCH_PARTS, f->together = p->n / parts;
    }
    for (size_t groups = 2; groups <= 64 && groups < p->c; groups++) {
        if (p->c % groups) continue;
        formula *f = mistake_add(l, "stats-groups", groups,
                                 "statistics per %s and group of %zu %s: GroupNorm of %zu groups",
                                 channels ? "sample" : "row", p->c / groups,
                                 channels ? "channels" : "features", groups);
        f->axis = PARTS, f->together = p->c / groups;
    }
}

/* Adds averages of the variances of parts, which lack the variance of the parts' means. */
static void add_local(mistake_list *l) {
    const size_t m = nl_group_size(l->s->p);
    for (size_t parts = 2; parts <= 32; parts *= 2) {
        if (m % parts || m / parts < 2) continue;
        for (int kind = LOCAL; kind <= STRIDED; kind++) {
            formula *f = mistake_add(l, kind == LOCAL ? "local" : "strided", parts,
                                     "the variance is the average of the variances of %zu parts%s",
                                     parts, kind == LOCAL ? "" : ", interleaved");
            f->variance = kind, f->together = parts;
        }
    }
}

/* Adds inference that first updates the running statistics with the batch. */
static void add_updated(mistake_list *l) {
    static const long double momenta[] = {0.1L, 0.01L, 0.001L, 0.9L, 0.99L};
    for (size_t i = 0; i < sizeof momenta / sizeof *momenta; i++)
        for (int kind = 0; kind < 2; kind++) {
            formula *f = mistake_add(
                l, kind ? "updated-unbiased" : "updated", i + 1,
                "the running statistics were first updated with the batch, momentum %.3Lg%s",
                momenta[i], kind ? " (n - 1)" : "");
            f->updated = kind + 1, f->momentum = momenta[i];
        }
}

/* Adds sums without the first element, the last element, or the tail after the last whole vector;
 * and sums with a wrong divisor. */
static void add_members(mistake_list *l) {
    const size_t m = nl_group_size(l->s->p), n = l->s->p->n;
    mistake_add(l, "sums-without-first", 0, "the sums miss their first element")->member = 1;
    mistake_add(l, "sums-without-last", 0, "the sums miss their last element")->members_end = m - 1;
    for (size_t k = 64, before = 0; k >= 2; k /= 2) {
        const size_t end = m / k * k;
        if (end == 0 || end == before || end == m) continue;
        formula *f;
        before = end;
        if (end < m - 1)
            mistake_add(l, "sums-end", end, "the sums miss the tail, from element %zu on", end)
                ->members_end = end;
        if (l->s->p->pass == NL_FORWARD && l->right.centred)
            f = mistake_add(l, "mean-end", end,
                            "the sum for the mean misses the tail, from element %zu on", end),
            f->members_end = end, f->squares_whole = 1;
        f = mistake_add(l, "whole-vectors", end, "the sums miss the tail, and were divided by %zu",
                        end);
        f->members_end = end, f->undivided = OF_MEAN | OF_SQUARES | OF_G | OF_GX;
        f->divisor = (long double)end;
    }
    for (size_t k = 64, before = m; k >= 4; k /= 2) {
        const size_t padded = (m + k - 1) / k * k;
        if (padded == m || padded == before) continue;
        formula *f =
            mistake_add(l, "padded-length", padded,
                        "the sums were divided by a padded length, %zu, not by %zu", padded, m);
        f->undivided = OF_MEAN | OF_SQUARES | OF_G | OF_GX, f->divisor = (long double)padded;
        before = padded;
    }
    if (m == n || n < 2) return;
    formula *f = mistake_add(l, "divided-by-rows", 0,
                             "the sums were divided by the number of rows, %zu, not by %zu", n, m);
    f->undivided = OF_MEAN | OF_SQUARES | OF_G | OF_GX, f->divisor = (long double)n;
}

/* Adds means of 0. In backward, means of 0 treat mean and rstd as constants. */
static void add_no_means(mistake_list *l) {
    const bool backward = l->s->p->pass == NL_BACKWARD;
    if (backward && !l->right.centred) return; /* RMSNorm has one mean: see mean-gx-missing */
    formula *f =
        backward
            ? mistake_add(l, "no-means", 0,
                          "both means were left out: dx as if mean and rstd were constant")
            : mistake_add(l, "zero-means", 0, "the means are 0: is 1 / c a division of integers?");
    f->undivided = backward ? OF_G | OF_GX : OF_MEAN | OF_SQUARES, f->divisor = HUGE_VALL;
    if (!backward) return;
    f = mistake_add(l, "as-rms-norm", 0, "the gradient of RMSNorm: without any mean of x or of g");
    f->centred = NOWHERE, f->mean_g = 0;
}

/* Adds mistakes of vector sums: a lane counts twice, or lanes beyond the row's end, which hold
 * 0 - mean, count too. */
static void add_lanes(mistake_list *l) {
    const size_t m = nl_group_size(l->s->p);
    for (size_t lanes = 4, before = 0; lanes <= 16; lanes *= 2) {
        const size_t padding = (lanes - m % lanes) % lanes;
        if (lanes / 2 < m)
            mistake_add(l, "lane-twice", lanes, "the sums count lane 0 of %zu twice", lanes)
                ->lanes = lanes;
        if (!l->right.centred || padding == before) continue;
        mistake_add(l, "padding", lanes, "the squares count %zu lane%s not real: 0 - mean in each",
                    padding, padding == 1 ? " that is" : "s that are")
            ->padding = before = padding;
    }
}

static void add_rows(mistake_list *l, const char *name, size_t number, const char *what,
                     size_t first, size_t end) {
    formula *f = mistake_add(l, name, number, "dgamma or dbeta: %s", what);
    f->row = first, f->rows_end = end;
}

/* Adds dgamma and dbeta that are summed in 16 bits, or over only some of the rows. */
static void add_gradients(mistake_list *l) {
    static const struct {
        const char *name, *text;
        int of, sums, products;
    } narrow[] = {{"grads", "dgamma and dbeta were added up row by row", 0, 1, 0},
                  {"dgamma", "dgamma alone was added up row by row", OF_GAMMA, 1, 0},
                  {"dbeta", "dbeta alone was added up row by row", OF_BETA, 1, 0},
                  {"products", "dgamma sums products that were rounded", 0, 0, 1},
                  {"dgamma-all", "dgamma alone: products rounded and added up", OF_GAMMA, 1, 1}};
    const size_t n = l->s->p->n, threads = (size_t)l->s->threads;
    char share[64];
    if (n < 2) return;
    for (int type = NL_F16; type <= NL_BF16; type++) {
        for (size_t k = 0; k < sizeof narrow / sizeof *narrow; k++) {
            if (narrow[k].of == OF_GAMMA && !narrow[k].products && !l->s->got[NL_DBETA]) continue;
            if (narrow[k].of == OF_BETA && !l->s->got[NL_DGAMMA]) continue;
            formula *f = mistake_add(l, narrow[k].name, 0, "%s in 16 bits, %s", narrow[k].text,
                                     type_text(type));
            char *name = l->out[l->count - 1].name;
            snprintf(name, sizeof l->out->name, "%s-in-%s", narrow[k].name, type_text(type));
            f->gradients_in = narrow[k].sums ? type + 1 : 0, f->gradients_of = narrow[k].of;
            f->products_in = narrow[k].products ? type + 1 : 0;
        }
    }
    add_rows(l, "last-row-only", 0, "the last row only, as if it overwrote the others", n - 1, n);
    add_rows(l, "first-row-only", 0, "the first row only", 0, 1);
    add_rows(l, "without-last-row", 0, "the last row is missing", 0, n - 1);
    add_rows(l, "without-first-row", 0, "the first row is missing", 1, n);
    if (n > 3) add_rows(l, "first-half-only", 0, "the first half of the rows only", 0, n / 2);
    if (n > 3) add_rows(l, "second-half-only", 0, "the second half of the rows only", n / 2, n);
    if (nl_layers[l->s->p->op].by_channel) return;
    for (size_t t = 0, begin = 0, end; t < threads && threads > 1 && t < 16; t++, begin = end) {
        end = begin + n / threads + (t < n % threads);
        snprintf(share, sizeof share, "rows %zu to %zu only, one thread's share", begin, end - 1);
        if (end > begin) add_rows(l, "rows-of-thread", t + 1, share, begin, end);
    }
}

/* Adds outputs of zeros: one mistake for each output, and one for all. */
static void add_zeros(mistake_list *l) {
    unsigned all = 0;
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        if (!l->s->got[o]) continue;
        all |= NL_BIT(o);
        mistake_add(l, nl_args[o].name, 0, "%s is 0: nothing was computed%s", nl_args[o].name,
                    o == NL_RSTD ? ", or rstd was not saved" : "")
            ->zeroed = NL_BIT(o);
        mistake_prefix(l, "zero-");
    }
    if (all & (all - 1))
        mistake_add(l, "zeros", 0, "all outputs are 0: nothing was computed")->zeroed = all;
}

/* Adds some mistakes of the list again, together with a cast at the wrong place. */
static void add_castings(mistake_list *l) {
    static const char *const with[] = {"unbiased", "eps-",      "factor", "gain-", "gamma-m",
                                       "beta-m",   "residual-", "sum-",   "mean-", "dropout"};
    const bool late = l->right.casting == NL_CAST_LAST;
    const size_t count = l->count;
    if (l->s->p->dtype == NL_F32 || l->s->p->pass == NL_BACKWARD) return;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
            const mistake *m = &l->out[i];
            if (strncmp(m->name, with[k], strlen(with[k])) != 0) continue;
            mistake_add(l, m->name, 0, "%.64s; and cast %s", m->text,
                        late ? "before the weight" : "last");
            mistake_prefix(l, "cast+"), l->out[l->count - 1].fitted = m->fitted;
            l->out[l->count - 1].formula = m->formula;
            l->out[l->count - 1].formula.casting = late ? NL_CAST_BEFORE_WEIGHT : NL_CAST_LAST;
        }
}

static void add_fitted(mistake_list *l, workspace *w) {
    double factor, offset;
    const char *name = nl_args[subject_tensor(l->s)].name;
    const size_t first = l->count;
    if (w->count < 8) return; /* too few elements to fit a number */
    const double eps = fit_eps(w);
    fit_line(w, &factor, &offset);
    mistake_add(l, "factor", 0, "%s times the constant %.7g, fitted", name, factor)->factor =
        factor;
    mistake_add(l, "offset", 0, "%s plus the constant %.4g, fitted", name, offset)->offset = offset;
    if (eps >= 0) mistake_add(l, "eps-fitted", 0, "eps = %.3g, fitted", eps)->eps = eps;
    for (size_t i = first; i < l->count; i++) l->out[i].fitted = true;
}

void families_begin(mistake_list *l) {
    if (l->s->p->pass != NL_INFERENCE) add_narrow_sums(l, true);
    add_zeros(l);
}

void families_add(mistake_list *l, workspace *w) {
    const nl_pass pass = l->s->p->pass;
    add_eps(l);
    if (pass != NL_INFERENCE) add_axes(l), add_members(l), add_no_means(l);
    if (pass == NL_FORWARD) add_local(l);
    if (pass == NL_INFERENCE) add_updated(l);
    add_roundings(l), add_formats(l);
    if (pass != NL_INFERENCE) add_narrow_sums(l, false);
    if (pass == NL_FORWARD) add_lanes(l);
    if (pass == NL_BACKWARD) add_gradients(l);
    observed_add(l), add_fitted(l, w), add_castings(l);
}
