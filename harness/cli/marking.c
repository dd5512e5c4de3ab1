/* SPDX-License-Identifier: MIT */
#include "cli/marking.h"
#include "base/interrupt.h"
#include "base/random.h"
#include "cli/report.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "verify/verify.h"
#include "verify/isolate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static mark *mark_part(grading *j, const part *p) {
    mark *k = &j->out->all[j->out->count++];
    *k = (mark){.most = p->points};
    snprintf(k->name, sizeof k->name, "%s", p->name);
    return k;
}

static bool is_graded(void *context, const nl_impl *impl, const nl_case *c) {
    const grading *j = context;
    return impl == j->impl && nl_accepts(impl, &c->problem);
}

static void judged(void *context, const nl_case *c, const nl_impl *impl, const verdict *v) {
    grading *j = context;
    (void)c, (void)impl;
    if (v->outcome != OUTCOME_OK) j->failed = *v;
}

static void describe_failure(const grading *j, const nl_case *c, mark *k) {
    const verdict *v = &j->failed;
    const row line = {.c = c, .impl = j->impl->name, .isa = j->impl->isa, .v = *v};
    char *hint = NULL;
    size_t size;
    FILE *f = v->outcome == OUTCOME_FAIL ? open_memstream(&hint, &size) : NULL;
    if (f)
        hints_note(j->impl, &line, c->threads ? c->threads : j->threads),
            hints_print(f, c, NULL, NULL), fclose(f);
    snprintf(k->text, sizeof k->text, "%s\n%s%s", c->text,
             v->outcome == OUTCOME_DEMO
                 ? "the kernel's method has no bound here (.method, .range_safe)"
                 : v->why,
             hint && *hint                         ? hint
             : strncmp(v->why, "printed ", 8) == 0 ? "\nremove the code that prints"
                                                   : "");
    free(hint);
}

/* Is the kernel right on the default data, which everybody can see, and wrong on these data? */
static void note_known_answers(grading *j, const nl_case *c, const check_settings *o, mark *k) {
    const size_t used = strlen(k->text);
    char error[700];
    if (!j->seed) return;
    random_seed(0);
    j->failed = (verdict){.outcome = OUTCOME_OK};
    if (check_case(c, o, error, sizeof error) && j->failed.outcome == OUTCOME_OK)
        snprintf(k->text + used, sizeof k->text - used,
                 "\nright on the data without --seed: does the file contain the answers?");
    random_seed((uint64_t)j->seed);
}

/* Sets k->right: is the kernel right on all cases of the part? If not, k->text has the reason.
 * False: bad input, after a message. */
static bool check_part(grading *j, const part *p, mark *k) {
    const check_settings settings = {.threads = j->threads,
                                     .context = j,
                                     .selects = is_graded,
                                     .judged = judged};
    const size_t before = j->done;
    k->right = true;
    for (size_t i = 0; i < p->cases.count && k->right && !interrupted(); i++) {
        const nl_case *c = &p->cases.items[i];
        char error[700];
        check_settings now = settings;
        if (c->threads) now.threads = c->threads;
        progress(before + i, j->total, c->text);
        k->right = nl_accepts(j->impl, &c->problem);
        if (!k->right) {
            snprintf(k->text, sizeof k->text,
                     "%s\nthe kernel does not accept this case: see its .ops, .passes, .dtypes "
                     "and .c_max",
                     c->text);
            break;
        }
        j->failed = (verdict){.outcome = OUTCOME_OK};
        if (!check_case(c, &now, error, sizeof error))
            return progress_clear(), options_fail("%s: %s", c->text, error);
        k->right = j->failed.outcome == OUTCOME_OK;
        if (!k->right) describe_failure(j, c, k), note_known_answers(j, c, &now, k);
    }
    j->done = before + p->cases.count;
    return progress_clear(), true;
}

/* Gives all points of the part if the kernel is right. */
static bool award(const part *p, mark *k, const char *what) {
    if (!k->right) return true;
    k->points = p->points;
    snprintf(k->text, sizeof k->text, "%s on %zu case%s", what, p->cases.count,
             p->cases.count == 1 ? "" : "s");
    return true;
}

static bool grade_category(grading *j, const part *p) {
    mark *k = mark_part(j, p);
    return check_part(j, p, k) && award(p, k, "right");
}

static void take_bits(void *context, const instance *in) {
    *(uint64_t *)context = instance_hash(in);
}

/* Compares the outputs of calls with several numbers of threads, and of two calls with the last
 * number. Returns the number of threads in the kernel's process. */
static int compare_bits(const grading *j, const nl_case *c, const nl_data *data, mark *k) {
    static const int teams[] = {1, 2, 3, 5, 8, 8};
    enum { TEAMS = sizeof teams / sizeof *teams };
    uint64_t bits[TEAMS] = {0};
    bool same = true;
    for (int i = 0; i < TEAMS && same; i++) {
        const examination how = {.threads = teams[i], .outputs = 0xff, .scratch = 0xff};
        same = examine(c, data, j->impl, how, take_bits, &bits[i]) && bits[i] == bits[0];
        k->right = same;
        if (!same && i == TEAMS - 1)
            snprintf(k->text, sizeof k->text, "%s\ntwo calls on %d threads differ: a data race",
                     c->text, teams[i]);
        else if (!same)
            snprintf(k->text, sizeof k->text,
                     "%s\n%d threads give other bits than 1 thread: the order of a sum depends on "
                     "the number of threads, or there is a race",
                     c->text, teams[i]);
    }
    return isolate_threads();
}

static bool grade_bits(grading *j, const part *p) {
    mark *k = mark_part(j, p);
    char error[700];
    if (!check_part(j, p, k)) return false;
    if (k->right && !j->impl->threaded) {
        snprintf(k->text, sizeof k->text,
                 "the kernel is not .threaded, so every call gets one thread");
        return k->right = false, true;
    }
    int threads = 0;
    isolate_end(); /* also ends the threads of earlier calls */
    for (size_t i = 0; i < p->cases.count && k->right && !interrupted(); i++) {
        const nl_case *c = &p->cases.items[i];
        nl_data data;
        answer want;
        if (!data_make(c, &data, error, sizeof error)) return options_fail("%s", error);
        if (!answer_make(c, &data, &want)) return data_free(&data), options_fail("out of memory");
        const int had = compare_bits(j, c, &data, k);
        threads = had > threads ? had : threads;
        answer_free(&want), data_free(&data);
    }
    if (k->right && threads == 1 && nl_has_openmp()) {
        snprintf(k->text, sizeof k->text,
                 "the kernel is .threaded, but started no thread on any case");
        k->right = false;
    }
    return award(p, k, "the same bits on 1 to 8 threads,");
}

static bool grade_batch(grading *j, const part *p) {
    mark *k = mark_part(j, p);
    verify_batches = true;
    const bool ok = check_part(j, p, k);
    verify_batches = false;
    return ok && award(p, k, "a row has the same bits in every batch,");
}

double grade_share(double value, double from, double to) {
    return fmin(1, fmax(0, log(from / value) / log(from / to)));
}

static bool grade_error(grading *j, const part *p) {
    const nl_case *c = p->cases.items;
    mark *k = mark_part(j, p);
    nl_data data;
    answer want;
    char error[700];
    if (!data_make(c, &data, error, sizeof error)) return options_fail("%s", error);
    if (!answer_make(c, &data, &want)) return data_free(&data), options_fail("out of memory");
    const verdict v = verify(c, &data, &want, j->impl, PLACE_END, j->threads);
    answer_free(&want), data_free(&data);
    if (v.outcome == OUTCOME_FAIL) {
        snprintf(k->text, sizeof k->text, "%s\n%s", c->text, v.why);
        return true;
    }
    k->points = p->points * (v.error_u > 0 ? grade_share(v.error_u, p->from, p->to) : 1);
    k->right = true;
    if (isfinite(v.error_u))
        snprintf(k->text, sizeof k->text, "%s\n%.3g units of error", c->text, v.error_u);
    else /* the method promises nothing on such a case */
        snprintf(k->text, sizeof k->text, "%s\nNaN or infinity where a number should be", c->text);
    return true;
}

void grade_nothing(grading *j, const part *p, const char *why) {
    mark *k = mark_part(j, p);
    snprintf(k->text, sizeof k->text, "%.*s", (int)sizeof k->text - 1, why);
}

/* Verifies the kernel in a separate process, except on large cases, which are verified when they
 * are timed. */
static bool check_before_timing(grading *j, const part *p) {
    enum { LARGE = 1 << 21 };
    const nl_problem *q = &p->cases.items->problem;
    mark *k = mark_part(j, p);
    k->right = true;
    return q->n * q->c * q->s > LARGE || check_part(j, p, k);
}

static bool (*const grade_part[PART_KINDS])(grading *, const part *) =
    {[PART_CATEGORY] = grade_category, [PART_BITS] = grade_bits,
     [PART_BATCH] = grade_batch,       [PART_ERROR] = grade_error,
     [PART_COUNT] = grade_count,       [PART_SPEED] = check_before_timing};

/* Grades the parts of one kind. Parts for speed are only checked. False: bad input, after a
 * message. */
static bool grade_kind(grading *j, int kind, bool right) {
    for (size_t i = 0; i < j->work->count && !interrupted(); i++) {
        const part *p = &j->work->parts[i];
        if ((int)p->kind != kind) continue;
        if (!right)
            grade_nothing(j, p, "not measured: the kernel must be right first");
        else if (!grade_part[kind](j, p))
            return false;
        if ((kind != PART_SPEED || !right) && !interrupted())
            j->graded(&j->out->all[j->out->count - 1]);
    }
    return true;
}

static bool time_all(grading *j, size_t first) {
    const size_t begin = first;
    for (size_t i = 0; i < j->work->count && !interrupted(); i++) {
        const part *p = &j->work->parts[i];
        mark *k = &j->out->all[first];
        if (p->kind != PART_SPEED) continue;
        progress(first - begin, j->out->count - begin, p->cases.items->text);
        if (k->right && !grade_speed(j, p, k)) return progress_clear(), false;
        first++, progress_clear();
        if (!interrupted()) j->graded(k);
    }
    return progress(1, 1, ""), true;
}

bool grade_all(grading *j) {
    const marks *m = j->out;
    bool right = true;
    for (size_t i = 0; i < j->work->count; i++) j->total += j->work->parts[i].cases.count;
    if (!grade_kind(j, PART_CATEGORY, true) || !grade_kind(j, PART_BITS, true) ||
        !grade_kind(j, PART_BATCH, true))
        return false;
    for (size_t i = 0; i < m->count; i++) right = right && m->all[i].right;
    if (!grade_kind(j, PART_ERROR, right) || !grade_kind(j, PART_COUNT, right)) return false;
    const size_t first = m->count;
    return grade_kind(j, PART_SPEED, right) && (!right || time_all(j, first));
}
