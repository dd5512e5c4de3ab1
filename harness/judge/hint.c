/* SPDX-License-Identifier: MIT */
#include "judge/hint.h"
#include "best.h"
#include "layer.h"
#include "judge/mechanism.h"
#include "judge/subject.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit on the numbers that formulas compute in each of three tests: together they take seconds. */
enum { TRIED_MOST = 1 << 24 };

typedef struct enquiry {
    subject s;
    instance shell; /* an instance without buffers, for the bounds */
    expectations expectations;
    sample call[SAMPLES];
    region wrong[NL_ARGS];
    nl_arg shown; /* the output that the hint describes */
    bool right_apart;
} enquiry;

static bool is_wrong(const enquiry *q) {
    return q->shown < NL_ARGS;
}

static bool same(const enquiry *q, int one, int other) {
    return sample_same(&q->call[one], &q->call[other]);
}

/* Finds the wrong numbers of a call; prefers y or dx to the other outputs. */
static bool look(enquiry *q, int call) {
    q->shown = NL_ARGS;
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        region_free(&q->wrong[o]);
        q->s.got[o] = q->call[call].of[o];
        if (!q->s.got[o]) continue;
        if (!region_make(&q->s, o, &q->wrong[o])) return false;
        const bool tensor = o == subject_tensor(&q->s);
        if (q->wrong[o].wrong && (!is_wrong(q) || tensor)) q->shown = o;
    }
    return true;
}

/* Would a call in place be right if its outputs had their own buffers? */
static bool look_apart(enquiry *q) {
    if (!q->call[APART].memory) return true;
    if (!look(q, APART)) return false;
    q->right_apart = !is_wrong(q);
    return true;
}

static void say_where(const enquiry *q, hint *out) {
    char name[64];
    const size_t first = q->wrong[q->shown].first;
    const double got = q->s.got[q->shown][first];
    const expected_value d = expected_at(&q->expectations, q->shown, first);
    expected_name(q->s.p, q->shown, first, name, sizeof name);
    snprintf(out->number, sizeof out->number, "the first: %s is %.9g, should be %.9g", name,
             isnan(got) ? fabs(got) : got, isnan(d.want) ? NAN : (double)d.want);
    regions_text(&q->s, q->wrong, out->where, sizeof out->where);
}

/* Finds why wrong numbers are NaN. Looks at the call with outputs filled with zeros: 0 means that
 * the number was never written; another number means that the kernel adds to the outputs. */
static bool find_nan(const enquiry *q, nl_arg o, char *cause, size_t size) {
    const region *r = &q->wrong[o];
    const size_t row = q->s.p->c * q->s.p->s;
    size_t unwritten = 0, added = 0, from = row; /* from: the first unwritten feature */
    for (size_t i = 0; r->wrong && q->call[OVER_ZEROS].memory && i < r->count; i++) {
        if (!isnan(q->call[FIRST].of[o][i]) ||
            isnan((double)expected_at(&q->expectations, o, i).want))
            continue;
        const double v = q->call[OVER_ZEROS].of[o][i];
        unwritten += v == 0, added += v != 0 && !isnan(v);
        if (v == 0 && i % row < from) from = i % row;
    }
    if (added)
        snprintf(cause, size, "NaN: the old values of %s were added to, not overwritten",
                 nl_args[o].name);
    else if (unwritten)
        snprintf(cause, size, "NaN: %zu element%s of %s %s never written", unwritten,
                 unwritten == 1 ? "" : "s", nl_args[o].name, unwritten == 1 ? "was" : "were");
    if (!added && o == NL_Y && from && unwritten && unwritten == r->count / row * (row - from))
        text_append(cause, size, ": the tail of each row");
    if (!added && o == NL_Y && q->s.p->n > 1 && unwritten == r->count - row && r->first < row)
        text_append(cause, size, ": all rows were written to row 0: was v used instead of row?");
    return added || unwritten;
}

static bool find_any_nan(const enquiry *q, char *cause, size_t size) {
    bool found = find_nan(q, q->shown, cause, size);
    for (nl_arg o = 0; o < NL_ARGS && !found; o++) found = find_nan(q, o, cause, size);
    return found;
}

/* Are nearly all wrong numbers NaN, or should nearly all be NaN? If so, too few groups are left to
 * compare formulas. */
static bool find_class(const enquiry *q, char *cause, size_t size) {
    const region *r = &q->wrong[q->shown];
    size_t lost = 0, made = 0;
    for (size_t i = 0; i < r->count; i++) {
        const bool got = isnan(q->s.got[q->shown][i]);
        const expected_value d = expected_at(&q->expectations, q->shown, i);
        if (!d.promised || got == isnan(d.want)) continue;
        got ? made++ : lost++;
    }
    if (10 * lost >= 9 * r->wrong)
        snprintf(cause, size,
                 "NaN was lost: the right result is NaN, because an input is NaN, or by 0 / 0, "
                 "inf - inf or 0 * inf");
    else if (10 * made >= 9 * r->wrong)
        snprintf(cause, size,
                 "NaN instead of a number: a step was 0 / 0, inf / inf, inf - inf or 0 * inf");
    return 10 * (lost > made ? lost : made) >= 9 * r->wrong;
}

static void name_likely(hint *out) {
    snprintf(out->cause, sizeof out->cause, "likely: %s", out->m.prefix);
    mechanism_text(&out->m, out->cause, sizeof out->cause);
}

/* Do both names, as "sums-end-4" and "sums-end-36", mean the same mistake except for sizes? */
static bool alike(const char *a, const char *b) {
    const char *dash = strrchr(a, '-');
    const bool number = dash && dash[1] >= '0' && dash[1] <= '9' && strncmp(a, "eps-", 4) != 0;
    return number ? strncmp(a, b, (size_t)(dash + 1 - a)) == 0 : strcmp(a, b) == 0;
}

bool hint_narrow(hint *h, const hint *other) {
    mechanism *m = &h->m;
    size_t both = 0;
    hypothesis left[HYPOTHESES_MAX];
    for (size_t i = 0; i < m->likely; i++)
        for (size_t k = 0; k < other->m.count && both <= i; k++)
            if (other->m.found[k].wholly && alike(m->found[i].name, other->m.found[k].name))
                left[both++] = m->found[i];
    if (!both) return false;
    memcpy(m->found, left, both * sizeof *left), m->likely = both;
    return name_likely(h), true;
}

/* Names the mistakes that explain the whole error, everywhere or only where numbers are wrong.
 * False: there are none. */
static bool find_mechanism(const enquiry *q, hint *out) {
    mechanism *m = &out->m;
    const bool known =
        mechanism_find(&q->s, &q->wrong[q->shown], m) && m->likely && m->found[0].wholly;
    if (!known) return m->likely = 0, false;
    /* After an overflow, other mistakes reproduce the numbers too: name the overflow alone. */
    if (strncmp(m->found[0].text, "x^2 overflows", 13) == 0) m->likely = 1;
    return name_likely(out), true;
}

/* Is only the saved mean wrong, and by little? If so, a method that corrects its mean has saved the
 * uncorrected mean. */
static bool find_first_mean(const enquiry *q, char *cause, size_t size) {
    const nl_method method = q->shell.impl->method;
    const size_t means = q->wrong[NL_MEAN].wrong;
    if (!means || q->s.p->pass != NL_FORWARD || (method != NL_REFINED && method != NL_SHIFTED))
        return false;
    for (nl_arg o = 0; o < NL_ARGS; o++)
        if (o != NL_MEAN && q->wrong[o].wrong) return false;
    for (size_t i = 0; i < q->wrong[NL_MEAN].count; i++)
        if (fabsl(q->s.got[NL_MEAN][i] - q->s.want->mean[i]) * q->s.want->rstd[i] > 1e-3L)
            return false;
    snprintf(cause, size,
             "likely: the mean was saved before its correction; y has the corrected mean");
    return true;
}

/* Methods that correct a number near the mean have two typical mistakes: one makes only row 0
 * wrong, the other only rows of zero variance. */
static bool find_near_mean(const enquiry *q, char *cause, size_t size) {
    const region *r = &q->wrong[q->shown];
    const nl_method method = q->shell.impl->method;
    const char *found = NULL;
    if (q->s.p->pass != NL_FORWARD || nl_layers[q->s.p->op].by_channel) return false;
    const size_t rows = q->s.p->n, row = r->first / (r->count / rows);
    if (method == NL_REFINED && !(q->s.want->var[row] > 0))
        found = "squares around a mean that is a little off by c: n c^2 was not subtracted, or was "
                "added";
    if (method == NL_SHIFTED && q->expectations.kappa >= 8 && rows > 1 &&
        !memchr(r->rows + 1, 1, rows - 1))
        found = "row 0 has no shift near its mean: its variance is a one-pass variance";
    if (found) snprintf(cause, size, "likely: %s", found);
    return found;
}

bool hint_resize(const nl_case *c, size_t features, nl_case *out) {
    char text[CASE_TEXT];
    const char *shape = c->text;
    for (int i = 0; i < 3 && shape; i++) shape = strchr(shape, '/') ? strchr(shape, '/') + 1 : NULL;
    const char *end = shape ? strchr(shape, '/') : NULL;
    if (!end || *shape < '0' || *shape > '9') return false;
    snprintf(text, sizeof text, "%.*s%zux%zu%s", (int)(shape - c->text), c->text, c->problem.n,
             features, end);
    return case_parse(text, out, (char[700]){0}, 700);
}

/* Is each long row wrong by an offset and a factor only? If so, its sums are wrong. */
static bool find_length(const enquiry *q, char *cause, size_t size) {
    enum { LONG = 1024, SHORT = 64 };
    const nl_problem *p = q->s.p;
    nl_case c;
    nl_data data;
    answer want;
    if (p->pass != NL_FORWARD || nl_layers[p->op].by_channel || p->c < LONG || q->shown != NL_Y ||
        !hint_resize(q->shell.c, SHORT, &c) || !data_make(&c, &data, (char[700]){0}, 700))
        return false;
    double *rest = calloc(ref_groups(p) + 1, sizeof *rest);
    const bool made = rest && answer_make(&c, &data, &want);
    const bool rows = made && growth_pattern(&q->s, rest).rest < 0.01;
    const bool right =
        rows && verify(&c, &data, &want, q->shell.impl, PLACE_END, 1).outcome == OUTCOME_OK;
    if (made) answer_free(&want);
    data_free(&data), free(rest);
    if (right)
        snprintf(cause, size,
                 "right in rows of %d elements. Here each row has a wrong factor or offset: its "
                 "sums of %zu terms are inexact or incomplete",
                 SHORT, p->c);
    return right;
}

/* The cause that shows when the call is repeated in another way; NULL: none. */
static const char *seen_in_repetition(const enquiry *q) {
    if (!same(q, FIRST, AGAIN))
        return "the same call again gives other numbers: a race, or memory that was not set";
    if (!is_wrong(q))
        return "unknown: right when called again, so the result depends on more than the arguments";
    if (!same(q, FIRST, ZERO_SCRATCH)) return "scratch was used before it was set";
    if (q->right_apart)
        return "wrong only in place: an input was overwritten before it was last read, or the "
               "branch for calls in place is wrong";
    return NULL;
}

static void find_cause(enquiry *q, hint *out) {
    char *cause = out->cause;
    const size_t size = sizeof out->cause;
    const char *seen = seen_in_repetition(q);
    out->known = is_wrong(q) || !same(q, FIRST, AGAIN);
    if (seen) return text_append(cause, size, "%s", seen);
    if (find_any_nan(q, cause, size) || find_near_mean(q, cause, size) ||
        find_class(q, cause, size))
        return;
    const bool found = find_mechanism(q, out);
    /* If plain float sums have lost digits, the kernel's method may tell more. */
    const bool digits = found && strcmp(out->m.found[0].name, "sums-in-f32") == 0;
    if (found && !digits) return;
    const size_t wrong = q->wrong[q->shown].wrong;
    const nl_problem *p = q->s.p;
    const bool far =
        p->pass == NL_FORWARD && nl_layers[p->op].centred && q->expectations.kappa >= 8;
    const char *method = far ? method_found(q->shell.impl, p->op) : NULL;
    if (method) {
        const bool corrected = q->shell.impl->method == NL_REFINED && strstr(method, "rounded");
        snprintf(cause, size, "likely: %s%s", method,
                 corrected ? "; or its correction has the wrong sign" : "");
        out->m.likely = 0;
        return;
    }
    if (digits) return;
    if (find_first_mean(q, cause, size) || find_length(q, cause, size)) return;
    if (q->call[ONE_THREAD].memory && look(q, ONE_THREAD) && !is_wrong(q)) {
        snprintf(cause, size, "right with one thread: threads share the work wrongly");
        return;
    }
    out->known = false;
    snprintf(cause, size, "unknown: none of %zu known mistakes gives %s", out->m.count,
             wrong == 1 ? "this number" : "these numbers");
    if (out->m.untried)
        text_append(cause, size, "; %zu more take too long on this case", out->m.untried);
}

bool hint_make(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               int threads, hint *out) {
    *out = (hint){0};
    enquiry *q = calloc(1, sizeof *q);
    if (!q) return false;
    q->shell = (instance){.c = c, .data = data, .impl = impl};
    q->s = subject_of(&c->problem, a, &q->expectations);
    q->s.threads = nl_plan_of(impl, &c->problem, threads).threads, q->s.most = TRIED_MOST;
    const bool ok = expectations_make(&q->shell, &a->want, &q->expectations) &&
                    samples_take(&q->shell, threads, q->call) && look_apart(q) && look(q, FIRST);
    if (ok && is_wrong(q)) say_where(q, out);
    if (ok) find_cause(q, out);
    samples_free(q->call);
    for (nl_arg o = 0; o < NL_ARGS; o++) region_free(&q->wrong[o]);
    expectations_free(&q->expectations), free(q);
    return ok;
}
