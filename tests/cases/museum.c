/* The museum: its data are those of the reports, and nl_best() is right on all of them. SPDX-License-Identifier: MIT */
#include "cases/case_list.h"
#include "cases/museum.h"
#include "dtype.h"
#include "support.h"
#include "verify/verify.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(museum);

static char error[800];

/* A case with its data and its answer. */
typedef struct ready {
    const nl_case *c;
    nl_data data;
    answer want;
} ready;

static case_list all_cases(void) {
    case_list list = {0};
    cr_assert(cases_add(&list, "museum", error, sizeof error), "%s", error);
    cr_assert(list.count > museum_count());
    return list;
}

static ready make(const nl_case *c) {
    ready r = {.c = c};
    cr_assert(data_make(c, &r.data, error, sizeof error), "%s", error);
    cr_assert(answer_make(c, &r.data, &r.want), "%s: no memory for the answer", c->text);
    return r;
}

static void drop(ready *r) {
    answer_free(&r->want);
    data_free(&r->data);
}

static const char *exhibit_of(const nl_case *c) {
    const exhibit *e = museum_find(c->data);
    cr_assert(e, "%s is not a case of an exhibit", c->text);
    return e->name;
}

static double value(const ready *r, size_t g, size_t e) {
    const nl_problem *p = &r->c->problem;
    return nl_load(p->dtype, r->data.input[NL_X], element(p, g, e));
}

/* x in the reports: mean (within `by`) and sigma of every row or channel; first values of a row. */
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

static void judge_fact(const ready *r, const struct fact *f) {
    for (size_t g = 0, m = group_size(&r->c->problem); g < ref_groups(&r->c->problem); g++) {
        double mean = 0, squares = 0;
        for (size_t e = 0; e < m; e++) mean += value(r, g, e) / (double)m;
        for (size_t e = 0; e < m; e++) squares += pow(value(r, g, e) - mean, 2);
        double sigma = sqrt(squares / (double)m);
        if (!(fabs(mean - f->mean) <= f->by && sigma >= f->sigma_low && sigma <= f->sigma_high))
            cr_assert_fail("%s, group %zu: mean %.9g, sigma %.9g", r->c->text, g, mean, sigma);
    }
    size_t e = 0;
    for (char *at = (char *)f->values, *end; *at; at = end, e++) {
        double want = strtod(at, &end), got = value(r, f->row, e);
        if (got != (float)want)
            cr_assert_fail("%s: x[%zu][%zu] is %.9g, should be %.9g", r->c->text, f->row, e, got,
                           want);
    }
}

Test(museum, the_data_are_what_the_reports_say) {
    case_list list = all_cases();
    for (size_t i = 0; i < list.count; i++) {
        size_t judged = 0;
        ready r = make(&list.items[i]);
        for (size_t f = 0; f < FACTS; f++) {
            if (strcmp(facts[f].name, exhibit_of(r.c))) continue;
            judge_fact(&r, &facts[f]);
            judged++;
        }
        cr_assert(judged, "%s: no fact about it", r.c->text);
        drop(&r);
    }
    cases_free(&list);
}

/* FNV-1a over the floats of x in all cases is the same on every machine. */
Test(museum, the_values_are_the_same_everywhere) {
    uint64_t hash = 0xcbf29ce484222325;
    case_list list = all_cases();
    for (size_t i = 0; i < list.count; i++) {
        ready r = make(&list.items[i]);
        const nl_problem *p = &r.c->problem;
        for (size_t k = 0; k < p->n * p->c * p->s; k++) {
            float x = nl_load(p->dtype, r.data.input[NL_X], k);
            uint32_t bits;
            memcpy(&bits, &x, sizeof bits);
            hash = (hash ^ bits) * 0x100000001b3;
        }
        drop(&r);
    }
    cases_free(&list);
    cr_assert(hash == 0x1be7b364249fbe3a, "the hash of all values is %#llx",
              (unsigned long long)hash);
}

/* All layers normalize the same groups: a row of one is a channel of the other. */
Test(museum, rows_are_channels) {
    nl_case row, channel;
    size_t compared = 0;
    for (size_t i = 0; i < museum_count(); i++) {
        char text[CASE_TEXT];
        snprintf(text, sizeof text, "layernorm/forward/f32/6x9/museum:%s", museum_at(i)->name);
        cr_assert(case_parse(text, &row, error, sizeof error), "%s", error);
        snprintf(text, sizeof text, "batchnorm/forward/f32/3x6x3/museum:%s", museum_at(i)->name);
        cr_assert(case_parse(text, &channel, error, sizeof error), "%s", error);
        ready a = make(&row), b = make(&channel);
        for (size_t g = 0; g < 6; g++)
            for (size_t e = 0; e < 9; e++, compared++)
                if (value(&a, g, e) != value(&b, g, e))
                    cr_assert_fail("%s: element %zu of group %zu differs", text, e, g);
        drop(&a), drop(&b);
    }
    cr_assert(compared > 0);
}

Test(museum, the_best_is_right_on_all_of_it) {
    case_list list = all_cases();
    for (size_t i = 0; i < list.count; i++) {
        ready r = make(&list.items[i]);
        const nl_impl *best = nl_best(&r.c->problem, 1);
        cr_assert(best, "no implementation accepts %s", r.c->text);
        verdict v = verify(r.c, &r.data, &r.want, best, PLACE_END, 1);
        cr_assert(v.outcome == OUTCOME_OK, "%s by %s@%s: %s (error %g of %g) %s", r.c->text,
                  best->name, best->isa, outcome_name(v.outcome), v.error_u, v.bound_u, v.why);
        drop(&r);
    }
    cases_free(&list);
}

static bool kills_one_pass(const char *name) {
    return has_word("pt51102 pt40302 ort28463 ort21935 ort31973 mlx2238", name);
}

Test(museum, one_pass_is_never_ok_where_it_was_reported_to_fail) {
    size_t judged = 0;
    case_list list = all_cases();
    for (size_t i = 0; i < list.count; i++) {
        nl_op op = list.items[i].problem.op;
        if (!kills_one_pass(exhibit_of(&list.items[i]))) continue;
        if (op != NL_LAYERNORM && op != NL_BATCHNORM) continue;
        ready r = make(&list.items[i]);
        for (size_t k = 0; k < nl_impl_count(); k++) {
            const nl_impl *m = nl_impl_at(k);
            if (m->method != NL_ONE_PASS || !nl_accepts(m, &r.c->problem) || !nl_isa_runs(m->isa))
                continue;
            verdict v = verify(r.c, &r.data, &r.want, m, PLACE_END, 1);
            judged++;
            cr_assert(v.outcome == OUTCOME_DEMO || v.outcome == OUTCOME_FAIL, "%s by %s@%s: %s",
                      r.c->text, m->name, m->isa, outcome_name(v.outcome));
        }
        drop(&r);
    }
    cases_free(&list);
    cr_assert(judged >= 12, "only %zu judged", judged);
}

/* Calls nl_best() on a case and returns the buffers. */
static instance called(const ready *r) {
    instance in;
    const nl_impl *best = nl_best(&r->c->problem, 1);
    cr_assert(instance_make(r->c, &r->data, best, nl_scratch_bytes(best, &r->c->problem), PLACE_END,
                            &in));
    cr_assert(instance_call(&in, 1) == NL_OK, "%s: %s", r->c->text, nl_message());
    return in;
}

Test(museum, a_row_of_one_value_has_no_gradient) {
    static const char *const dtypes[] = {"f32", "bf16"};
    for (size_t d = 0; d < 2; d++) {
        nl_case c;
        char text[CASE_TEXT];
        snprintf(text, sizeof text, "layernorm/backward/%s/3x1/museum:pt188372", dtypes[d]);
        cr_assert(case_parse(text, &c, error, sizeof error), "%s", error);
        ready r = make(&c);
        instance in = called(&r);
        for (size_t i = 0; i < 3; i++)
            cr_assert(nl_load(c.problem.dtype, in.at[NL_DX], i) == 0, "%s: dx is not 0", text);
        cr_assert(((float *)in.at[NL_DGAMMA])[0] == 0, "%s: dgamma is %g", text,
                  ((float *)in.at[NL_DGAMMA])[0]);
        instance_free(&in);
        drop(&r);
    }
}

/* A right dx with the bug of a backward exhibit must be rejected. */
Test(museum, one_mean_term_more_is_rejected) {
    size_t judged = 0;
    case_list list = all_cases();
    for (size_t i = 0; i < list.count; i++) {
        if (!has_word("dnnl-rms-dx tt53204", exhibit_of(&list.items[i]))) continue;
        ready r = make(&list.items[i]);
        const nl_problem *p = &r.c->problem;
        size_t m = group_size(p);
        instance in = called(&r);
        for (size_t g = 0; g < ref_groups(p); g++) {
            float mean = 0;
            for (size_t e = 0; e < m; e++) {
                size_t at = element(p, g, e), j = feature(p, at);
                mean += (float)ref_gain(p, in.at[NL_GAMMA], j) *
                        nl_load(p->dtype, in.at[NL_DY], at) / m;
            }
            for (size_t e = 0; e < m; e++) {
                size_t at = element(p, g, e);
                float dx = nl_load(p->dtype, in.at[NL_DX], at);
                nl_store(p->dtype, in.at[NL_DX], at, dx - ((float *)in.at[NL_RSTD])[g] * mean);
            }
        }
        verdict v = outputs_check(&in, &r.want);
        cr_assert(v.outcome == OUTCOME_FAIL, "%s: dx with mean(g) once more is %s", r.c->text,
                  outcome_name(v.outcome));
        judged++;
        instance_free(&in);
        drop(&r);
    }
    cases_free(&list);
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
