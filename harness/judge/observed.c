/* Mistakes with a number that is read from the outputs. A mistake is added only if its number fits
 * the outputs. SPDX-License-Identifier: MIT */
#include "base/stats.h"
#include "judge/mechanism.h"
#include "layer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double *outputs(const mistake_list *l) {
    return l->s->got[subject_tensor(l->s)];
}

static size_t elements(const mistake_list *l) {
    return l->s->p->n * l->s->p->c * l->s->p->s;
}

/* Returns y[i] before gain and beta; in backward, dx[i]. */
static double bare(const mistake_list *l, size_t i) {
    const subject *s = l->s;
    const size_t j = nl_feature_of(s->p, i);
    if (s->p->pass == NL_BACKWARD) return outputs(l)[i];
    const double beta = s->in->beta ? s->in->beta[j] : 0;
    return (outputs(l)[i] - beta) /
           (double)(formula_gain_at(s, &l->right, j) * formula_gate(s, &l->right, false, i));
}

/* Returns v rounded to two digits if that is very close to v, else v. */
static double few_digits(const mistake_list *l, double v) {
    char text[32];
    snprintf(text, sizeof text, "%.2g", v);
    const double near = strtod(text, NULL);
    return fabs(near - v) <= (l->s->p->dtype == NL_F32 ? 1e-4 : 2e-3) * fabs(v) ? near : v;
}

/* Adds clipping if the largest number occurs several times. */
static void add_clipped(mistake_list *l) {
    const bool backward = l->s->p->pass == NL_BACKWARD;
    const double near = 1 - 4 * (double)ref_unit(l->s->p->dtype);
    for (int of = backward ? CLIP_OUTPUT : CLIP_XHAT; of <= CLIP_OUTPUT; of++) {
        double largest = 0;
        size_t times = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < elements(l); i++) {
                const double v = fabs(of == CLIP_XHAT ? bare(l, i) : outputs(l)[i]);
                if (pass) times += v >= largest * near;
                if (!pass && isfinite(v)) largest = fmax(largest, v);
            }
        if (times < 4 || largest == 0) continue;
        const double limit = few_digits(l, largest);
        formula *f = mistake_add(l, of == CLIP_XHAT ? "clip-xhat" : "clip-output", 0,
                                 "%s was clipped at +-%.4g",
                                 of == CLIP_XHAT ? "xhat"
                                 : backward      ? "dx"
                                                 : "y",
                                 limit);
        f->clipped = of, f->limit = limit;
    }
}

/* Adds dropout if at least half of the rows have zeros, no row is all zeros, and the other values
 * are larger by dropout's factor. */
static void add_dropout(mistake_list *l) {
    const subject *s = l->s;
    const size_t row = s->p->c * s->p->s;
    double products = 0, squares = 0;
    size_t zeros = 0, rows_with = 0, here = 0;
    for (size_t i = 0; i < elements(l); i++) {
        const expected_value d = expected_at(s->expectations, subject_tensor(s), i);
        const double want = (double)d.want, got = outputs(l)[i];
        if (!isfinite(want) || !isfinite(got)) return;
        here += got == 0 && want != 0;
        if (got != 0) products += want * got, squares += want * want;
        if ((i + 1) % row) continue;
        if (here == row) return;
        zeros += here, rows_with += here > 0, here = 0;
    }
    const double kept = 1 - (double)zeros / (double)elements(l), factor = products / squares;
    if (kept > 0.995 || kept < 0.02 || 2 * rows_with < s->p->n || !(squares > 0)) return;
    if (fabs(factor * kept - 1) > 0.1 || factor < 1.002) return;
    formula *f = mistake_add(l, "dropout", 0, "dropout: %.2g %% zeros, the rest times %.4g",
                             100 * (1 - kept), few_digits(l, factor));
    f->drops = 1, f->factor = few_digits(l, factor);
}

/* Returns a step s if all n numbers are multiples of s, and at most 128 s; else 0. */
static double step_of_grid(const mistake_list *l, const double *v, size_t n) {
    double least = INFINITY, largest = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) return 0;
        if (v[i] != 0) least = fmin(least, fabs(v[i])), largest = fmax(largest, fabs(v[i]));
    }
    const double levels[] = {127, largest > 0 ? round(largest / least) : 0};
    for (int k = 0; k < 2; k++) {
        bool all = levels[k] > 1 && levels[k] <= 128;
        const double step = largest / levels[k], unit = (double)ref_unit(l->s->p->dtype);
        for (size_t i = 0; i < n && all; i++)
            all = fabs(v[i] / step - round(v[i] / step)) <= 0.01 + 2 * fabs(v[i]) / step * unit;
        if (all) return step;
    }
    return 0;
}

/* Adds mistakes that round to int8: x or gamma, in 127 steps up to the largest number, or the
 * output, in the steps that its numbers show. */
static void add_grids(mistake_list *l) {
    const subject *s = l->s;
    double x = 0, gamma = 0;
    for (size_t i = 0; i < elements(l); i++) x = fmax(x, fabs(s->in->x[i]));
    for (size_t j = 0; s->in->gamma && j < s->p->c; j++) gamma = fmax(gamma, fabs(s->in->gamma[j]));
    const struct {
        const char *name, *text;
        int what;
        double step;
    } grids[] = {{"x-int8", "x was", A_X, x / 127},
                 {"gamma-int8", "gamma was", A_GAMMA, gamma / 127},
                 {"stored-int8", s->p->pass == NL_BACKWARD ? "dx was" : "y was", AN_OUTPUT,
                  step_of_grid(l, outputs(l), elements(l))}};
    for (size_t i = 0; i < 3; i++) {
        if (!(grids[i].step > 0 && isfinite(grids[i].step))) continue;
        formula *f = mistake_add(l, grids[i].name, 0, "%s quantized to int8, in steps of %.4g",
                                 grids[i].text, grids[i].step);
        f->rounds = grids[i].what, f->to = GRID, f->step = grids[i].step;
    }
    const size_t row = s->p->c * s->p->s;
    for (size_t i = 0; i < 4 && i < s->p->n; i++)
        if (s->p->pass == NL_BACKWARD || step_of_grid(l, outputs(l) + i * row, row) == 0) return;
    formula *f =
        mistake_add(l, "rows-int8", 0, "y was quantized to int8, each row in steps of its own");
    f->rounds = AN_OUTPUT, f->to = GRID, f->step_of_row = 1;
}

/* Returns the squared error, over some elements, of a formula with another order of elements. */
static double order_error(const mistake_list *l, const formula *f) {
    enum { MOST = 2048, STRIDE = 7919 };
    const subject *s = l->s;
    const size_t count = elements(l);
    double sum = 0;
    for (size_t k = 0; k < count && k < MOST; k++) {
        const size_t i = k * STRIDE % count, x = (size_t)formula_from(s, f, OF_X, i),
                     g = nl_feature_of(s->p, (size_t)formula_from(s, f, OF_GAMMA, i)),
                     b = nl_feature_of(s->p, (size_t)formula_from(s, f, OF_BETA, i)),
                     z = (size_t)formula_from(s, f, OF_GATE, i);
        const double v = s->p->pass == NL_BACKWARD
                             ? (double)expected_at(s->expectations, NL_DX, x).want
                             : (double)(formula_gain_at(s, f, g) * s->want->xhat[x] *
                                        formula_gate(s, f, false, z)) +
                                   (s->in->beta ? s->in->beta[b] : 0);
        const double d = outputs(l)[i] - v;
        if (isfinite(d)) sum += d * d;
    }
    return sum;
}

/* Adds the best transposition of features or rows, as heads x width instead of width x heads. */
static void add_order(mistake_list *l, int what, const char *name, size_t unit, size_t length) {
    formula best = l->right;
    double least = 0.5 * order_error(l, &l->right);
    for (size_t ways = 2; ways < length; ways++) {
        formula f = l->right;
        if (length % ways) continue;
        f.permuted = what, f.unit = unit, f.length = length, f.ways = ways;
        const double error = order_error(l, &f);
        if (error < least) least = error, best = f;
    }
    if (!best.permuted) return;
    char id[24];
    snprintf(id, sizeof id, "order-%.12s", name);
    *mistake_add(l, id, best.ways, "%s in another order: %zu x %zu, transposed%s", name,
                 length / best.ways, best.ways,
                 best.ways == 2 || 2 * best.ways == length ? " (halves interleaved)" : "") = best;
}

static void add_orders(mistake_list *l) {
    const nl_problem *p = l->s->p;
    const bool backward = p->pass == NL_BACKWARD;
    add_order(l, backward ? OF_X : OF_Y, backward ? "dx" : "y", p->s, p->c);
    add_order(l, OF_X | OF_GATE, "rows", p->c * p->s, p->n);
    if (p->s > 1 && !backward) add_order(l, OF_Y, "places", 1, p->c * p->s);
    for (size_t ways = 2; ways < p->c && backward; ways++) { /* dx does not show gamma's order */
        if (p->c % ways) continue;
        formula *f =
            mistake_add(l, "order-gamma", ways, "gamma in another order: %zu x %zu, transposed",
                        p->c / ways, ways);
        f->permuted = OF_GAMMA, f->unit = p->s, f->length = p->c, f->ways = ways;
    }
    if (backward) return;
    add_order(l, OF_GAMMA, "gamma", p->s, p->c);
    add_order(l, OF_GAMMA | OF_BETA, "affine", p->s, p->c);
    add_order(l, OF_X, "x", p->s, p->c);
}

/* Fits a group's y before gain and beta as a * x + b * residual + c. False: not determined. */
static bool fit_group(const mistake_list *l, size_t g, double *a, double *b, double *c) {
    const subject *s = l->s;
    const size_t m = nl_group_size(s->p);
    long double sums[3] = {0}, q[6] = {0};
    for (int pass = l->right.centred ? 0 : 1; pass < 2; pass++)
        for (size_t e = 0; e < m; e++) {
            const size_t i = nl_element(s->p, g, e);
            const double past = s->in->residual ? s->in->residual[i] : 0, z = bare(l, i);
            long double v[3] = {s->in->x[i] * formula_gate(s, &l->right, true, i), past, z};
            if (!pass) {
                for (int k = 0; k < 3; k++) sums[k] += v[k] / (long double)m;
                continue;
            }
            for (int k = 0; k < 3; k++) v[k] -= sums[k];
            q[0] += v[0] * v[0], q[1] += v[0] * v[1], q[2] += v[1] * v[1];
            q[3] += v[0] * v[2], q[4] += v[1] * v[2];
        }
    const bool one = !s->in->residual;
    const long double of = one ? q[0] : q[0] * q[2] - q[1] * q[1];
    *a = (double)((one ? q[3] : q[3] * q[2] - q[4] * q[1]) / of);
    *b = one ? 0 : (double)((q[4] * q[0] - q[3] * q[1]) / of);
    *c = (double)(sums[2] - *a * sums[0] - *b * sums[1]);
    return isfinite(*a) && isfinite(*b) && *a != 0;
}

/* Adds a weighted residual: x + a * residual, or dx + a * dresidual. */
static void add_past(mistake_list *l) {
    const subject *s = l->s;
    double ratio[64], a, b, c, up = 0, down = 0;
    size_t found = 0;
    for (size_t g = 0; s->in->residual && g < ref_groups(s->p) && found < 64; g++)
        if (fit_group(l, g, &a, &b, &c)) ratio[found++] = b / a;
    for (size_t i = 0; s->in->dresidual && i < elements(l); i++) {
        const double past = s->in->dresidual[i];
        up += past * (outputs(l)[i] - (double)expected_at(s->expectations, NL_DX, i).want + past);
        down += past * past;
    }
    const double of = found > 2 ? stats_quantile(ratio, found, 0.5) : up / down;
    if (!isfinite(of) || fabs(of - 1) < 1e-3 || fabs(of) < 1e-3) return;
    const double weight = few_digits(l, of);
    formula *f = mistake_add(l, "residual-weighted", 0, "%s times %.4g was added, fitted",
                             down > 0 ? "dresidual" : "the residual", weight);
    f->residual = WEIGHTED, f->past_weight = weight;
    l->out[l->count - 1].fitted = true;
    if (down > 0) return;
    f = mistake_add(l, "x-weighted", 0, "x times %.4g before the residual was added, fitted",
                    few_digits(l, 1 / of));
    f->residual = X_WEIGHTED, f->past_weight = few_digits(l, 1 / of);
    l->out[l->count - 1].fitted = true;
}

/* Adds statistics of the first elements only, as in pRMSNorm or when only one GPU warp adds. */
static void add_first(mistake_list *l) {
    const subject *s = l->s;
    const size_t m = nl_group_size(s->p);
    const double far = s->p->dtype == NL_F32 ? 1e-4 : 2e-2;
    double *off = calloc(2 * m + 2, sizeof *off), a, b, c;
    for (size_t g = 0; off && g < ref_groups(s->p) && g < 8; g++) {
        if (!fit_group(l, g, &a, &b, &c)) return free(off);
        const double mean = l->right.centred ? -c / a : 0, var = 1 / (a * a) - s->p->eps;
        double sum = 0;
        for (size_t e = 0; e < m; e++) {
            const double d = (double)formula_input(s, &l->right, nl_element(s->p, g, e)) - mean;
            sum += d * d;
            for (size_t k = 0; k < 2; k++) {
                const double error = fabs(log(sum / (double)(k ? m : e + 1) / var));
                off[k * m + e] = fmax(off[k * m + e], isnan(error) ? INFINITY : error);
            }
        }
    }
    for (size_t k = 0; off && k < 2; k++) {
        size_t best = 0;
        for (size_t e = 1; e < m; e++)
            if (off[k * m + e] < off[k * m + best]) best = e;
        const size_t first = best + 1, over = k ? m : first;
        if (!(off[k * m + best] < far) || (2 * first > m && first + 64 > m)) continue;
        for (int means = 0; means <= !!l->right.centred; means++) {
            formula *f = mistake_add(l,
                                     means ? k ? "sums-part" : "sums-first"
                                     : k   ? "squares-part"
                                           : "squares-first",
                                     first, "the %s only the first %zu elements, divided by %zu",
                                     means ? "sums have" : "squares are of", first, over);
            f->members_end = first, f->mean_whole = !means;
            f->undivided = means ? OF_MEAN | OF_SQUARES : OF_SQUARES, f->divisor = over;
        }
    }
    free(off);
}

/* Adds a block of rows that dgamma and dbeta leave out, or count twice. */
static void add_block(mistake_list *l, bool twice) {
    enum { BLOCKS = 512, COLUMNS = 48 };
    const subject *s = l->s;
    const nl_problem *p = s->p;
    size_t each = 1, from = 0, to = 0, step = (p->c + COLUMNS - 1) / COLUMNS;
    while (p->n > each * BLOCKS) each *= 2;
    const size_t blocks = (p->n + each - 1) / each, columns = 2 * ((p->c + step - 1) / step);
    double *before = calloc((blocks + 2) * columns, sizeof *before), all = 0, least;
    double *lost = before ? before + (blocks + 1) * columns : NULL;
    for (int k = 0; before && k < 2; k++) {
        const nl_arg o = k ? NL_DBETA : NL_DGAMMA;
        const long double *right = k ? s->want->dbeta : s->want->dgamma;
        double error = 0, size = 0;
        for (size_t j = 0; s->got[o] && j < p->c; j++) {
            const double d = (double)right[j] - s->got[o][j];
            error += d * d, size += (double)(right[j] * right[j]);
            if (j % step == 0) lost[j / step * 2 + (size_t)k] = twice ? -d : d;
        }
        if (!(error > 1e-10 * size) || !isfinite(error)) continue; /* this gradient is right */
        for (size_t i = 0; i < p->n * p->c * p->s; i++) {
            const size_t j = nl_feature_of(p, i), row = i / (p->c * p->s) / each;
            const double dy =
                (double)formula_dy(s, &l->right, i) * (k ? 1 : (double)s->want->xhat[i]);
            if (j % step == 0) before[(row + 1) * columns + j / step * 2 + (size_t)k] += dy;
        }
        for (size_t j = 0; j < columns; j += 2) all += lost[j + (size_t)k] * lost[j + (size_t)k];
    }
    for (size_t i = columns; before && i < (blocks + 1) * columns; i++)
        before[i] += before[i - columns];
    least = 1e-4 * all;
    for (size_t a = 0; all > 0 && a < blocks; a++)
        for (size_t b = a + 1; b <= blocks; b++) {
            double error = 0;
            for (size_t j = 0; j < columns && error < least; j++) {
                const double *v = before + j;
                const double d = v[b * columns] - v[a * columns] - lost[j];
                const bool judged = v[blocks * columns] != 0;
                error += judged ? d * d : 0;
            }
            if (error < least) least = error, from = a * each, to = b * each;
        }
    free(before);
    if (to > p->n) to = p->n;
    const size_t rows = to - from;
    const bool end = from == 0 || to == p->n; /* add_gradients() has such mistakes, too */
    if (!rows || rows == p->n || (end && (rows == 1 || rows == p->n - 1)) ||
        (end && s->threads > 1) || (!twice && end && (rows == p->n / 2 || rows == p->n - p->n / 2)))
        return;
    formula *f = mistake_add(l, twice ? "rows-twice" : "rows-missing", 0,
                             "dgamma or dbeta: rows %zu to %zu %s", from, to - 1,
                             twice ? "are counted twice" : "are missing");
    f->row = from, f->rows_end = to, f->rows_out = twice ? 3 : 1;
}

void observed_add(mistake_list *l) {
    if (elements(l) < 8) return;
    if (outputs(l)) {
        add_grids(l), add_clipped(l), add_dropout(l), add_orders(l), add_past(l);
        if (l->s->p->pass == NL_FORWARD) add_first(l);
    }
    const bool sums = l->s->got[NL_DGAMMA] || l->s->got[NL_DBETA];
    if (l->s->p->pass == NL_BACKWARD && sums) add_block(l, false), add_block(l, true);
}
