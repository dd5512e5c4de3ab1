/* SPDX-License-Identifier: MIT */
#include "judge/judge.h"
#include "dtype.h"
#include "layer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const char *judgement_verdict(const judgement *j) {
    return j->score.beyond     ? "wrong"
           : !j->right         ? "unjudged"
           : j->score.unjudged ? "partial"
                               : "right";
}

const char *judgement_number(const judgement *j, nl_arg o, size_t i, char text[256]) {
    const npy *x = j->of->array[NL_X];
    size_t left = x->count;
    snprintf(text, 256, "%s[", nl_args[o].name);
    if (nl_args[o].extent != NL_TENSOR) return text_append(text, 256, "%zu]", i), text;
    for (size_t k = 0; k < x->rank; k++) {
        left /= x->shape[k];
        text_append(text, 256, k ? ", %zu" : "%zu", i / left);
        i %= left;
    }
    return text_append(text, 256, "]"), text;
}

/* Removes the sign of a NaN. */
static long double unsigned_nan(long double v) {
    return isnan(v) ? (long double)NAN : v;
}

static const char *value_text(double v, char text[64]) {
    return snprintf(text, 64, "%.9Lg", unsigned_nan(v)), text;
}

/* An infinite error means a NaN instead of a number, or a number instead of a NaN. */
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

/* Prints a line for each output except y and dx. */
static void print_others(const judgement *j, FILE *out) {
    const score *c = &j->score;
    char text[32];
    for (nl_arg o = 0; o < NL_ARGS; o++)
        if (c->of[o].count && o != subject_tensor(&j->s))
            fprintf(out, "%-16s largest error %s, %zu of %zu beyond the bound\n", nl_args[o].name,
                    units_text(c->of[o].largest, text), c->of[o].beyond, c->of[o].judged);
}

static void print_growth(const judgement *j, FILE *out) {
    if (!j->s.got[NL_Y]) return;
    const growth *g = &j->growth;
    const pattern *s = &j->pattern;
    const char *name = nl_layers[j->s.p->op].group;
    fprintf(out, "\nas rounding      ");
    if (s->groups)
        fprintf(out,
                "error along a %s: %.0f %% constant, %.0f %% in proportion to xhat, %.0f %% "
                "other\n",
                name, 100 * s->offset, 100 * s->scale, 100 * s->rest);
    else
        fprintf(out, "no %s has only finite errors\n", name);
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
                ? "no known method's error grows like that"
                : "a conclusion needs 8 points near a line, with the largest kappa at least 8 "
                  "times the smallest");
}

/* If the likely mistake explains a part of the error, prints that part and the rest. */
static void print_rest(const judgement *j, FILE *out) {
    const hypothesis *h = &j->formulas.found[0];
    char text[32];
    fprintf(out,
            "  explained      %.0f %% of the error, and %zu of %zu wrong numbers wholly\n"
            "  still left     up to %s, %zu number%s beyond the bound: there is another "
            "mistake too, or this is not the mistake\n",
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
            "\nknown mistake, simulated                                   removes  leaves rms    "
            "largest\n");
    size_t shown = 0;
    for (; shown < m->count && (shown < 3 || m->found[shown].removes >= 0.05); shown++) {
        const hypothesis *h = &m->found[shown];
        fprintf(out, "  %-56.56s", h->text);
        if (h->removes > 0)
            fprintf(out, " %6.1f %%", 100 * h->removes);
        else
            fprintf(out, "  nothing");
        fprintf(out, " %11.4g %10.4g\n", h->left.rms, h->left.largest);
    }
    if (shown < m->count)
        fprintf(out, "  and %zu that remove less; `normlab judge --csv FILE` lists all\n",
                m->count - shown);
    if (j->partly || !m->likely) print_growth(j, out); /* else a mistake explains the error */
}

/* Returns why some numbers have no bound. */
static void why_text(const judgement *j, char *text, size_t size) {
    double kappa = 0;
    bool far = false, range = false;
    for (size_t g = 0; g < j->score.groups; g++) {
        const allowance *a = &j->expectations.allowed[g];
        const bool its_far = !(a->units.probable * 0x1p-24 < 0.5);
        if (!a->promised && its_far) far = true, kappa = fmax(kappa, a->kappa);
        range = range || (!a->promised && !its_far);
    }
    *text = '\0';
    if (far) text_append(text, size, "rounding errors alone may be half as large as the numbers");
    if (far && kappa > 0 && nl_layers[j->s.p->op].centred && j->s.p->pass != NL_BACKWARD)
        text_append(text, size, " (kappa up to %.3g)", kappa);
    if (range || !far)
        text_append(text, size, "%sa sum or product may leave float's range", far ? "; " : "");
}

/* "2 rows, 24 of dgamma" */
static void unjudged_text(const judgement *j, char *text, size_t size) {
    const score *c = &j->score;
    const size_t rows = c->groups - c->groups_judged;
    *text = '\0';
    if (rows)
        snprintf(text, size, "%zu %s%s", rows, nl_layers[j->s.p->op].group, rows > 1 ? "s" : "");
    for (nl_arg o = NL_DGAMMA; o <= NL_DBETA; o++) {
        const size_t left = c->of[o].count - c->of[o].judged;
        if (left) text_append(text, size, "%s%zu of %s", *text ? ", " : "", left, nl_args[o].name);
    }
}

static void print_verdict(const judgement *j, FILE *out) {
    const score *c = &j->score;
    const char *name = nl_layers[j->s.p->op].group;
    const char *but = j->named ? ", but a known mistake explains the error" : "";
    char why[200], what[100];
    why_text(j, why, sizeof why), unjudged_text(j, what, sizeof what);
    fprintf(out, "verdict          ");
    if (!c->beyond && !j->right)
        fprintf(out, "none: a two-pass kernel has no bound on these data: %s\n", why);
    else if (!c->beyond && c->unjudged)
        fprintf(out, "right in %zu of %zu %ss%s; %s not judged: %s\n", c->groups_judged, c->groups,
                name, but, what, why);
    else if (!c->beyond)
        fprintf(out, "right: within the bound%s\n", but);
    if (!c->beyond) return;
    fprintf(out, "WRONG: beyond the bound in %zu of %zu elements, %zu of %zu %ss\n", c->beyond,
            c->judged, c->groups_beyond, c->groups, name);
    if (c->impossible)
        fprintf(out,
                "  %zu of these    have no bound, but no %s can have them: NaN, infinite or too "
                "large\n",
                c->impossible, name);
    if (c->certain < c->beyond)
        fprintf(out,
                "  the bound is probable: rounding breaks it less than once in 10^16 sums;\n"
                "  %zu are beyond the certain bound too\n",
                c->certain);
    if (c->unjudged)
        fprintf(out, "  not judged     %zu of %zu elements: %s\n", c->unjudged,
                c->judged + c->unjudged, why);
}

void judgement_print(const judgement *j, const char *y_path, FILE *out) {
    const score *c = &j->score;
    const nl_problem *p = j->s.p;
    char shape[NPY_SHAPE_TEXT];
    npy_shape_text(j->of->array[NL_X], shape);
    fprintf(out, "%s %s %s %s, eps %g%s: %s\n", nl_op_name(p->op), nl_pass_name(p->pass),
            nl_dtype_name(p->dtype), shape, (double)p->eps,
            p->casting == NL_CAST_BEFORE_WEIGHT ? ", cast before weight" : "", y_path);
    print_verdict(j, out);
    char largest[32], rms[32];
    fprintf(out, "largest error    %s\nrms error        %s", units_text(c->largest, largest),
            units_text(c->rms, rms));
    if (c->not_finite)
        fprintf(out, ", without %zu numbers that are NaN or infinite, or should be", c->not_finite);
    fprintf(out, "\nexactly rounded  %.1f %% of %zu elements\n",
            100 * (double)c->exact / (double)c->count, c->count);
    print_worst(j, out);
    print_others(j, out);
    fprintf(out,
            "one unit         2^%d * %s\n"
            "the bound        of a two-pass kernel with one accumulator\n",
            (int)lroundl(log2l(ref_unit(p->dtype))),
            p->pass == NL_BACKWARD ? "the size of the terms (docs/verification.md)"
                                   : "(|gain| * max(1, |xhat|) + |beta|)");
    print_mechanism(j, out);
}

static void csv_line(const judgement *j, FILE *out, const hypothesis *h) {
    const score *c = &j->score;
    const nl_problem *p = j->s.p;
    char text[256];
    fprintf(out, "%s,%s,%s,%zu,%zu,%zu,%s,%.6g,%.6g,%.6g,%.4f,%zu,%zu,\"%s\",", nl_op_name(p->op),
            nl_pass_name(p->pass), nl_dtype_name(p->dtype), p->n, p->c, p->s, judgement_verdict(j),
            c->largest, c->its_bound, c->rms, 100 * (double)c->exact / (double)c->count, c->beyond,
            c->unjudged, strchr(judgement_number(j, c->worst_of, c->worst, text), '['));
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
    fprintf(out,
            "op,pass,dtype,n,c,s,verdict,error_u,bound_u,rms_u,exact_pct,beyond,unjudged,worst,"
            "kappa_slope,slope_half_width,mechanism,mistake,removes_pct,left_rms_u,left_u,"
            "likely\n");
    csv_line(j, out, NULL);
    for (size_t i = 0; i < j->formulas.count; i++) csv_line(j, out, &j->formulas.found[i]);
}
