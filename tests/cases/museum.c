/* The museum has the bug reports' data, and nl_best() is right on all exhibits.
 * SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "cases/museum.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>

static char error[800];

/* Makes the next case of the museum. False: there are no more cases. */
static bool next(trial *t, size_t *i) {
    static case_list list;
    if (*i)
        trial_end(t);
    else
        cr_assert(cases_add(&list, "museum", error, sizeof error), "%s", error);
    cr_assert(list.count > museum_count());
    if (*i == list.count) return cases_free(&list), false;
    trial_make(t, list.items[(*i)++].text);
    return true;
}

static const char *exhibit_of(const nl_case *c) {
    const exhibit *e = museum_find(c->data);
    cr_assert(e, "%s is not a case of an exhibit", c->text);
    return e->name;
}

static double value(const trial *t, size_t g, size_t e) {
    const nl_problem *p = &t->c.problem;
    return nl_load(p->dtype, t->data.input[NL_X], element(p, g, e));
}

/* The reports' x: mean (within `by`) and sigma of rows or channels, and a row's first values. */
static const struct fact {
    const char *name;
    double mean, by, sigma_low, sigma_high;
    size_t row;
    const char *values;
} facts[] = {
    {"pt51102", 2000, 1, 0.3, 3, 0, ""},
    {"pt40302", 100, 1e-3, 0.0099, 0.0101, 0, ""},
    {"ort28463", 80001.5, 0, 1.118, 1.1181, 0, "80000 80001 80002 80003"},
    {"ort21935", 1234, 0, 0, 0, 0, "1234 1234"},
    {"ort31973", 1e5, 2e-3, 0.008, 0.012, 0, ""},
    {"mlx2238", 1449.568, 1e-3, 0.464, 0.466, 0,
     "1449.570556640625 1448.8741455078125 1450.650390625"},
    {"burn5607", 3700.0075, 6300.01, 0.0045, 0.0048, 0, "100 100.001 100.002"},
    {"burn5607", 3700.0075, 6300.01, 0.0045, 0.0048, 1, "1000 1000.001 1000.002"},
    {"burn5607", 3700.0075, 6300.01, 0.0045, 0.0048, 2, "10000 10000.001 10000.002"},
    {"pt108072", 8, 6, 0, 0, 1, "14 14"},
    {"pt188372", 1e6, 1000, 0, 0, 0, ""}, /* 999424 in bf16 */
    {"pt162489", 0, 0, 0.999e30, 1.001e30, 0, "1e30 -1e30 1e30 -1e30"},
    {"onnx8439", 128, 128, 0, 256, 0, "256 256"},
    {"onnx8439", 128, 128, 0, 256, 1, "256 -256"},
    {"pt41527", 0, 0, 0, 0, 0, "0 0 0 0 0 0 0 0 0 0"},
    {"dnnl-rms-dx", 0, 0.6, 0.7, 1.3, 0, ""},
    {"tt53204", 0, 1.5, 0.3, 2, 0, ""},
    {"outlier-first", 2.93, 0.2, 93, 95, 3, "3000"},
    {"zero-first", 1e4 - 9.8, 0.2, 312, 313, 3, "0"},
    {"long-head", 976.5, 0.2, 31200, 31260, 0, ""},
    {"long-turns", 0, 0.2, 0.9999e6, 1.0001e6, 0, ""},
    {"control", 0, 0.2, 0.9, 1.1, 0, ""},
};
enum { FACTS = sizeof facts / sizeof *facts };

static void judge_fact(const trial *t, const struct fact *f) {
    for (size_t g = 0, m = group_size(&t->c.problem); g < ref_groups(&t->c.problem); g++) {
        double mean = 0, squares = 0;
        for (size_t e = 0; e < m; e++) mean += value(t, g, e) / (double)m;
        for (size_t e = 0; e < m; e++) squares += pow(value(t, g, e) - mean, 2);
        double sigma = sqrt(squares / (double)m);
        if (!(fabs(mean - f->mean) <= f->by && sigma >= f->sigma_low && sigma <= f->sigma_high))
            cr_assert_fail("%s, group %zu: mean %.9g, sigma %.9g", t->c.text, g, mean, sigma);
    }
    size_t e = 0;
    for (char *at = (char *)f->values, *end; *at; at = end, e++) {
        double want = strtod(at, &end), got = value(t, f->row, e);
        if (got != (float)want)
            cr_assert_fail("%s: x[%zu][%zu] is %.9g, should be %.9g", t->c.text, f->row, e, got,
                           want);
    }
}

Test(museum, the_data_are_what_the_reports_say) {
    trial t;
    for (size_t i = 0; next(&t, &i);) {
        size_t judged = 0;
        for (size_t f = 0; f < FACTS; f++) {
            if (strcmp(facts[f].name, exhibit_of(&t.c))) continue;
            judge_fact(&t, &facts[f]);
            judged++;
        }
        cr_assert(judged, "%s: no fact about it", t.c.text);
    }
}

/* FNV-1a over the floats of x in all cases is the same on every machine. */
Test(museum, the_values_are_the_same_everywhere) {
    uint64_t hash = 0xcbf29ce484222325;
    trial t;
    for (size_t i = 0; next(&t, &i);) {
        const nl_problem *p = &t.c.problem;
        for (size_t k = 0; k < p->n * p->c * p->s; k++) {
            float x = nl_load(p->dtype, t.data.input[NL_X], k);
            uint32_t bits;
            memcpy(&bits, &x, sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3;
        }
    }
    cr_assert(hash == 0x1be7b364249fbe3a, "the hash of all values is %#llx",
              (unsigned long long)hash);
}

/* All layers normalize the same groups: a row of a row norm is a channel of BatchNorm. */
Test(museum, rows_are_channels) {
    size_t compared = 0;
    for (size_t i = 0; i < museum_count(); i++) {
        char text[CASE_TEXT];
        trial a, b;
        snprintf(text, sizeof text, "layernorm/forward/f32/6x9/museum:%s", museum_at(i)->name);
        trial_make(&a, text);
        snprintf(text, sizeof text, "batchnorm/forward/f32/3x6x3/museum:%s", museum_at(i)->name);
        trial_make(&b, text);
        for (size_t g = 0; g < 6; g++)
            for (size_t e = 0; e < 9; e++, compared++)
                if (value(&a, g, e) != value(&b, g, e))
                    cr_assert_fail("%s: element %zu of group %zu differs", text, e, g);
        trial_end(&a), trial_end(&b);
    }
    cr_assert(compared > 0);
}

Test(museum, the_best_is_right_on_all_of_it) {
    trial t;
    for (size_t i = 0; next(&t, &i);) {
        const nl_impl *best = nl_best(&t.c.problem, 1);
        cr_assert(best, "no implementation accepts %s", t.c.text);
        verdict v = verify(&t.c, &t.data, &t.want, best, PLACE_END, 1);
        cr_assert(v.outcome == OUTCOME_OK, "%s by %s@%s: %s (error %g of %g) %s", t.c.text,
                  best->name, best->isa, outcome_name(v.outcome), v.error_u, v.bound_u, v.why);
    }
}

static bool kills_one_pass(const char *name) {
    return has_word("pt51102 pt40302 ort28463 ort21935 ort31973 mlx2238", name);
}

Test(museum, one_pass_is_never_ok_where_it_was_reported_to_fail) {
    size_t judged = 0;
    trial t;
    for (size_t i = 0; next(&t, &i);) {
        nl_op op = t.c.problem.op;
        if (!kills_one_pass(exhibit_of(&t.c))) continue;
        if (op != NL_LAYERNORM && op != NL_BATCHNORM) continue;
        for (size_t k = 0; k < nl_impl_count(); k++) {
            const nl_impl *m = nl_impl_at(k);
            if (m->method != NL_ONE_PASS || !computes(m, &t.c.problem)) continue;
            verdict v = verify(&t.c, &t.data, &t.want, m, PLACE_END, 1);
            judged++;
            cr_assert(v.outcome == OUTCOME_DEMO || v.outcome == OUTCOME_FAIL, "%s by %s@%s: %s",
                      t.c.text, m->name, m->isa, outcome_name(v.outcome));
        }
    }
    cr_assert(judged >= 12, "only %zu judged", judged);
}

static void call_best(trial *t) {
    trial_place(t, nl_best(&t->c.problem, 1));
    trial_call(t, 1);
}

Test(museum, a_row_of_one_value_has_no_gradient) {
    static const char *const dtypes[] = {"f32", "bf16"};
    for (size_t d = 0; d < 2; d++) {
        char text[CASE_TEXT];
        trial t;
        snprintf(text, sizeof text, "layernorm/backward/%s/3x1/museum:pt188372", dtypes[d]);
        trial_make(&t, text), call_best(&t);
        for (size_t i = 0; i < 3; i++)
            cr_assert(nl_load(t.c.problem.dtype, t.in.at[NL_DX], i) == 0, "%s: dx is not 0", text);
        cr_assert(*(float *)t.in.at[NL_DGAMMA] == 0, "%s: dgamma is not 0", text);
        trial_end(&t);
    }
}

/* A right dx to which the bug of a backward exhibit is added must be rejected. */
Test(museum, one_mean_term_more_is_rejected) {
    size_t judged = 0;
    trial t;
    for (size_t i = 0; next(&t, &i);) {
        if (!has_word("dnnl-rms-dx tt53204", exhibit_of(&t.c))) continue;
        const nl_problem *p = &t.c.problem;
        size_t m = group_size(p);
        call_best(&t);
        for (size_t g = 0; g < ref_groups(p); g++) {
            float mean = 0;
            for (size_t e = 0; e < m; e++) {
                size_t at = element(p, g, e), j = feature(p, at);
                mean += (float)ref_gain(p, t.in.at[NL_GAMMA], j) *
                        nl_load(p->dtype, t.in.at[NL_DY], at) / m;
            }
            for (size_t e = 0; e < m; e++) {
                size_t at = element(p, g, e);
                float dx = nl_load(p->dtype, t.in.at[NL_DX], at);
                nl_store(p->dtype, t.in.at[NL_DX], at, dx - ((float *)t.in.at[NL_RSTD])[g] * mean);
            }
        }
        verdict v = outputs_check(&t.in, &t.want);
        cr_assert(v.outcome == OUTCOME_FAIL, "%s: dx with mean(g) once more is %s", t.c.text,
                  outcome_name(v.outcome));
        judged++;
    }
    cr_assert(judged == 8, "%zu judged", judged);
}

Test(museum, an_unknown_name_brings_the_list) {
    nl_case c;
    const char *const wrong[] = {"museum:nothing", "museum:", "museum", "museum:pt51102x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[CASE_TEXT];
        snprintf(text, sizeof text, "layernorm/forward/f32/2x2/%s", wrong[i]);
        cr_assert(!case_parse(text, &c, error, sizeof error), "%s was taken", text);
        cr_assert(strstr(error, wrong[i]) && strstr(error, "museum:NAME"), "%s", error);
        for (size_t k = 0; k < museum_count(); k++)
            cr_assert(strstr(error, museum_at(k)->name), "'%s' lacks %s", error,
                      museum_at(k)->name);
    }
}
