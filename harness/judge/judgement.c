/* SPDX-License-Identifier: MIT */
#include "judge/judge.h"
#include "dtype.h"
#include "layer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const char *judgement_verdict(const judgement *j) {
    return j->score.judged == 0 ? "unjudged" : j->right ? "right" : "wrong";
}

const char *judgement_number(const judgement *j, nl_arg o, size_t i, char text[256]) {
    const npy *x = j->of->array[NL_X];
    size_t left = x->count, used = (size_t)snprintf(text, 256, "%s[", nl_args[o].name);
    if (nl_args[o].extent != NL_TENSOR) return snprintf(text + used, 256 - used, "%zu]", i), text;
    for (size_t k = 0; k < x->rank; k++) {
        left /= x->shape[k];
        used += (size_t)snprintf(text + used, 256 - used, k ? ", %zu" : "%zu", i / left);
        i %= left;
    }
    strcat(text, "]");
    return text;
}

/* A NaN has no sign. */
static long double unsigned_nan(long double v) {
    return isnan(v) ? (long double)NAN : v;
}

static const char *value_text(double v, char text[64]) {
    return snprintf(text, 64, "%.9Lg", unsigned_nan(v)), text;
}

/* Infinite: a NaN for a number, or a number for a NaN. */
static const char *units_text(double units, char text[32]) {
    if (!isfinite(units)) return "beyond any number";
    return snprintf(text, 32, "%.4g units", units), text;
}

static void print_worst(const judgement *j, FILE *out) {
    const score *c = &j->score;
    const nl_problem *p = j->s.p;
    const ref_outputs *w = j->s.want;
    char text[256];
    const size_t i = c->worst, g = nl_group_of(p, i);
    const expected_value d = expected_at(&j->expectations, c->worst_of, i);
    char error[32], is[64], should[64];
    fprintf(out, "worst element    %s is %s, should be %s: %s",
            judgement_number(j, c->worst_of, i, text), value_text(j->s.got[c->worst_of][i], is),
            value_text((double)d.want, should), units_text(c->its_error, error));
    if (isfinite(c->its_error) && d.promised) fprintf(out, " of %.4g allowed", c->its_bound);
    fputc('\n', out);
    if (nl_args[c->worst_of].extent != NL_TENSOR) return;
    const long double mean = unsigned_nan(w->mean[g]), sigma = unsigned_nan(sqrtl(w->var[g]));
    fprintf(out, "  its %-12s ", nl_layers[p->op].group);
    if (nl_layers[p->op].centred && p->pass != NL_BACKWARD)
        fprintf(out, "mean %.6Lg, sigma %.6Lg, kappa %.4g\n", mean, sigma, c->kappa[g]);
    else if (nl_layers[p->op].centred)
        fprintf(out, "mean %.6Lg, sigma %.6Lg\n", mean, sigma);
    else
        fprintf(out, "rms %.6Lg\n", sigma);
}

/* Prints a line for each output other than y or dx. */
static void print_others(const judgement *j, FILE *out) {
    const score *c = &j->score;
    char text[32];
    for (nl_arg o = 0; o < NL_ARGS; o++)
        if (c->of[o].count && o != subject_tensor(&j->s))
            fprintf(out, "%-16s largest error %s, %zu of %zu beyond the bound\n", nl_args[o].name,
                    units_text(c->of[o].largest, text), c->of[o].beyond, c->of[o].count);
}

static void print_growth(const judgement *j, FILE *out) {
    if (!j->s.got[NL_Y]) return;
    const growth *g = &j->growth;
    const pattern *s = &j->pattern;
    const char *name = nl_layers[j->s.p->op].group;
    fprintf(out, "\nas rounding      ");
    if (s->groups)
        fprintf(out,
                "along a %s %.0f %% the same offset, %.0f %% in proportion to xhat, %.0f %% "
                "different\n",
                name, 100 * s->offset, 100 * s->scale, 100 * s->rest);
    else
        fprintf(out, "no %s has finite errors only\n", name);
    if (!nl_layers[j->s.p->op].centred) return;
    if (g->groups < 3) {
        fprintf(out, "  growth         too few %ss with 2 units or more to fit a line\n", name);
        return;
    }
    fprintf(out,
            "  growth         as kappa to the power %.2f +- %.2f (%zu %ss, kappa %.3g to %.3g)\n",
            g->slope, g->half_width, g->groups, name, g->low, g->high);
    if (j->rest.groups >= 3)
        fprintf(out, "    of the rest  as kappa to the power %.2f +- %.2f (%zu %ss)\n",
                j->rest.slope, j->rest.half_width, j->rest.groups, name);
    fprintf(out, "                 %s\n",
            j->rounding ? j->rounding
            : g->decides
                ? "no known method grows like that"
                : "that decides nothing: it takes 8 points near a line, and a range of kappa "
                  "of 8 times");
}

/* The share that the likely mistake explains, if not all, and the rest. */
static void print_rest(const judgement *j, FILE *out) {
    const hypothesis *h = &j->formulas.found[0];
    char text[32];
    fprintf(out,
            "  explained      %.0f %% of the error, and %zu of %zu wrong numbers wholly\n"
            "  much is left   up to %s, %zu number%s beyond the bound: something else is wrong, or "
            "it is not this\n",
            100 * fmax(0, h->removes), h->left.hits, j->score.beyond,
            units_text(h->left.largest, text), h->left.beyond, h->left.beyond == 1 ? "" : "s");
}

static void print_mechanism(const judgement *j, FILE *out) {
    const mechanism *m = &j->formulas;
    char text[256];
    fprintf(out, "\nlikely mechanism %s%s%s\n", j->partly ? "partly: " : "",
            m->prefix ? m->prefix : "", j->mechanism);
    if (j->partly) print_rest(j, out);
    if (!j->explained) {
        fprintf(out, "  any float arithmetic makes errors of up to %g units\n",
                MECHANISM_FEW_UNITS);
        return;
    }
    if (j->wrong.wrong && j->wrong.wrong < j->wrong.count) {
        region_text(&j->s, &j->wrong, text, sizeof text);
        fprintf(out, "  where          %s is wrong %s\n", nl_args[j->wrong.output].name, text);
    }
    if (!j->named && !j->rounding && j->score.not_finite == j->score.count) return;
    fprintf(out,
            "\nmistake tried, made on purpose                             removes  leaves rms    "
            "largest\n");
    for (size_t i = 0; i < m->count; i++) {
        const hypothesis *h = &m->found[i];
        fprintf(out, "  %-56.56s", h->text);
        if (h->removes > 0)
            fprintf(out, " %6.1f %%", 100 * h->removes);
        else
            fprintf(out, "  nothing");
        fprintf(out, " %11.4g %10.4g\n", h->left.rms, h->left.largest);
    }
    if (j->partly || !m->likely) print_growth(j, out); /* otherwise the mistake explains it */
}

void judgement_print(const judgement *j, const char *y_path, FILE *out) {
    const score *c = &j->score;
    const nl_problem *p = j->s.p;
    char shape[NPY_SHAPE_TEXT];
    const char *name = nl_layers[p->op].group;
    npy_shape_text(j->of->array[NL_X], shape);
    fprintf(out, "%s %s %s %s, eps %g%s: %s\n", nl_op_name(p->op), nl_pass_name(p->pass),
            nl_dtype_name(p->dtype), shape, (double)p->eps,
            p->casting == NL_CAST_BEFORE_WEIGHT ? ", cast before weight" : "", y_path);
    if (c->judged == 0)
        fprintf(out, "verdict          none: a two-pass has no bound on these data\n");
    else if (j->right)
        fprintf(out, "verdict          right: within the bound%s\n",
                j->named ? ", but a known mistake explains the error" : "");
    else
        fprintf(out,
                "verdict          WRONG: beyond the bound in %zu of %zu elements, %zu of %zu %ss\n",
                c->beyond, c->judged, c->groups_beyond, c->promised, name);
    if (c->certain < c->beyond)
        fprintf(out,
                "  by the probable bound: rounding breaks it less than once in 10^16 sums; %zu are "
                "beyond\n  the certain one too\n",
                c->certain);
    if (c->judged && c->judged < c->count)
        fprintf(out, "  not judged     %zu of %zu %ss, which have no bound\n",
                c->groups - c->promised, c->groups, name);
    char largest[32], rms[32];
    fprintf(out, "largest error    %s\nrms error        %s", units_text(c->largest, largest),
            units_text(c->rms, rms));
    if (c->not_finite)
        fprintf(out, ", without the %zu that are NaN or infinite, or should be", c->not_finite);
    fprintf(out, "\nexactly rounded  %.1f %% of %zu elements\n",
            100 * (double)c->exact / (double)c->count, c->count);
    print_worst(j, out);
    print_others(j, out);
    fprintf(out,
            "one unit         2^%d * %s\n"
            "the bound        that of a two-pass with one accumulator\n",
            (int)lroundl(log2l(ref_unit(p->dtype))),
            p->pass == NL_BACKWARD ? "the size of the terms (docs/verification.md)"
                                   : "(|gain| * max(1, |xhat|) + |beta|)");
    print_mechanism(j, out);
}

static void csv_line(const judgement *j, FILE *out, const hypothesis *h) {
    const score *c = &j->score;
    const nl_problem *p = j->s.p;
    char text[256];
    fprintf(out, "%s,%s,%s,%zu,%zu,%zu,%s,%.6g,%.6g,%.6g,%.4f,%zu,\"%s\",", nl_op_name(p->op),
            nl_pass_name(p->pass), nl_dtype_name(p->dtype), p->n, p->c, p->s, judgement_verdict(j),
            c->largest, c->its_bound, c->rms, 100 * (double)c->exact / (double)c->count, c->beyond,
            strchr(judgement_number(j, c->worst_of, c->worst, text), '['));
    if (j->growth.groups >= 3)
        fprintf(out, "%.4g,%.4g", j->growth.slope, j->growth.half_width);
    else
        fputc(',', out);
    fprintf(out, ",\"%s\",", j->mechanism);
    if (h)
        fprintf(out, "%s,%.6g,%.6g,%.6g,%s\n", h->name, 100 * h->removes, h->left.rms,
                h->left.largest,
                h >= j->formulas.found + j->formulas.likely ? "no"
                : h->wholly                                 ? "yes"
                                                            : "partly");
    else
        fprintf(out, "none,0,%.6g,%.6g,no\n", c->rms, c->largest);
}

void judgement_csv(const judgement *j, FILE *out) {
    fprintf(out, "op,pass,dtype,n,c,s,verdict,error_u,bound_u,rms_u,exact_pct,beyond,worst,"
                 "kappa_slope,slope_half_width,mechanism,mistake,removes_pct,left_rms_u,left_u,"
                 "likely\n");
    csv_line(j, out, NULL);
    for (size_t i = 0; i < j->formulas.count; i++) csv_line(j, out, &j->formulas.found[i]);
}

/* Are its last axes together c numbers, as those of x are? */
static bool ends_in_rows(const npy *part, size_t c) {
    size_t width = 1;
    for (size_t i = part->rank; i > 0 && width < c; i--) width *= part->shape[i - 1];
    return part->count && part->rank && width == c;
}

bool batches_fit(const nl_problem *p, const npy *part, size_t first, char *error, size_t size) {
    char shape[NPY_SHAPE_TEXT];
    npy_shape_text(part, shape);
    if (!ends_in_rows(part, p->c))
        return snprintf(error, size, "has shape %s: no rows of %zu", shape, p->c), false;
    const size_t rows = part->count / p->c, left = first < p->n ? p->n - first : 0;
    if (rows > left)
        snprintf(error, size, "has %zu rows; from row %zu on x has %zu", rows, first, left);
    return rows <= left;
}

/* The grid on which ulps are counted: that of a type, or of double. */
typedef struct scale {
    bool wide;
    nl_dtype t;
} scale;

/* Its place among all numbers of the type, in their order; -0 lies below 0. */
static int64_t order_of(scale of, double v) {
    unsigned char stored[8] = {0};
    uint64_t bits = 0;
    const size_t bytes = of.wide ? sizeof v : nl_dtype_size(of.t);
    if (of.wide)
        memcpy(stored, &v, sizeof v);
    else
        nl_store(of.t, stored, 0, (float)v);
    for (size_t i = bytes; i > 0; i--) bits = bits << 8 | stored[i - 1];
    const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    return bits & sign ? -1 - (int64_t)(bits & ~sign) : (int64_t)bits;
}

static double distance(scale of, double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : INFINITY;
    const int64_t m = order_of(of, a), n = order_of(of, b);
    return (double)(m > n ? (uint64_t)m - (uint64_t)n : (uint64_t)n - (uint64_t)m);
}

static bool holds(nl_dtype t, double v) {
    return isnan(v) || (double)nl_round(t, (float)v) == v;
}

/* The type that is judged, if it holds every number that is compared; else that of the files. */
static scale scale_of(const judgement *j, const npy *part, size_t first) {
    const nl_problem *p = j->s.p;
    const double *got = j->s.got[subject_tensor(&j->s)] + first * p->c;
    for (size_t i = 0; i < part->count; i++)
        if (!holds(p->dtype, got[i]) || !holds(p->dtype, npy_value(part, i)))
            return (scale){part->type == 'd', npy_type_of(part->type)->dtype};
    return (scale){false, p->dtype};
}

batches batches_compare(const judgement *j, const npy *part, size_t first) {
    const nl_problem *p = j->s.p;
    const nl_arg o = subject_tensor(&j->s);
    const scale of = scale_of(j, part, first);
    batches b = {.first = first, .rows = part->count / p->c};
    b.ulps_of = of.wide ? " of f64" : of.t != p->dtype ? " of f32" : "";
    for (size_t r = 0; r < b.rows; r++) {
        const size_t before = b.numbers;
        for (size_t k = r * p->c, i = first * p->c + k; k < (r + 1) * p->c; k++, i++) {
            const double v = npy_value(part, k), off = distance(of, j->s.got[o][i], v);
            const expected_value d = expected_at(&j->expectations, o, i);
            b.beyond += d.promised && !expected_met(&d, v);
            b.numbers += off > 0;
            if (off > b.ulps) b.ulps = off, b.worst = i;
        }
        b.others += b.numbers > before;
    }
    return b;
}

void batches_print(const judgement *j, const batches *b, const char *path, FILE *out) {
    const nl_arg o = subject_tensor(&j->s);
    char text[256];
    fprintf(out, "\nanother batch    rows %zu to %zu of %zu: %s\n", b->first,
            b->first + b->rows - 1, j->s.p->n, path);
    if (!b->numbers) {
        fprintf(out, "  its bits       are the same\n");
        return;
    }
    char most[48] = "one of both NaN";
    if (isfinite(b->ulps)) snprintf(most, sizeof most, "at most %.0f ulp%s", b->ulps, b->ulps_of);
    fprintf(out, "  its bits       differ in %zu of %zu rows, %zu of %zu numbers, %s: %s\n",
            b->others, b->rows, b->numbers, b->rows * j->s.p->c, most,
            judgement_number(j, o, b->worst, text));
    if (b->beyond)
        fprintf(out, "  its error      is beyond the bound in %zu of them\n", b->beyond);
    else
        fprintf(out, "  its error      is within the bound\n");
}
