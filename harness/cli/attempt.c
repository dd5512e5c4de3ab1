/* SPDX-License-Identifier: MIT */
#include "cli/attempt.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "cases/case.h"
#include "cases/suite.h"
#include "registry.h"
#include "timing/bench.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "cli/options.h"
#include "verify/verify.h"
#include "verify/isolate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Stops after FAILED_MOST groups with failures, or after any failure once FAILED_NS have passed: a
 * call that does not return takes seconds. */
enum { FAILED_MOST = 3, FAILED_NS = 2000000000 };

typedef struct job {
    const nl_impl *impl;
    const attempt_options *o;
    report out;
    size_t checked, failed, unbounded; /* numbers of cases; unbounded: without a bound */
    double share;                      /* the largest quotient error / bound */
    bool batches;                      /* on some case, the batch was varied */
    char depends[400];                 /* how bits depend on the batch, in the first such case */
    row first;                         /* the first failure */
    nl_case at;                        /* the case of `first`; later the timed case */
} job;

/* Shows what a kernel under construction prints. */
static struct {
    const nl_case *c; /* NULL: do not show the kernel's output */
    size_t cases;     /* number of cases in which the kernel printed */
} talk;

/* Shows the output of a case's first call. */
static void hear(const char *text) {
    enum { SHOWN = 3 };
    const nl_case *c = talk.c;
    if (!c) return;
    talk.c = NULL;
    if (talk.cases++ >= SHOWN) return;
    progress_clear();
    printf("  printed on %s:\n", c->text);
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        printf("    | %.*s\n", (int)n, text);
    }
    if (talk.cases == SHOWN) printf("  the kernel's output on further cases is not shown\n");
}

static bool selects(void *context, const nl_impl *impl, const nl_case *c) {
    const job *j = context;
    return impl == j->impl && nl_accepts(impl, &c->problem);
}

static void judged(void *context, const nl_case *c, const nl_impl *impl, const verdict *v) {
    job *j = context;
    j->checked++, j->unbounded += v->outcome == OUTCOME_DEMO;
    j->batches |= v->batches;
    if (v->depends && !*j->depends) snprintf(j->depends, sizeof j->depends, "%s", v->why);
    if (v->outcome == OUTCOME_OK && v->bound_u > 0)
        j->share = fmax(j->share, v->error_u / v->bound_u);
    if (v->outcome != OUTCOME_FAIL) return;
    const row line = {.c = c, .impl = impl->name, .isa = impl->isa, .v = *v};
    hints_note(impl, &line, c->threads ? c->threads : j->o->threads);
    if (j->failed++) return;
    j->at = *c;
    j->first = (row){.c = &j->at, .impl = impl->name, .isa = impl->isa, .v = *v};
}

/* Verifies cases until one fails; prints one line for all. False: bad input, after a message. */
static bool try_cases(job *j, const char *subject, const case_list *cases, bool *wrong) {
    const size_t before = j->failed, checked = j->checked, unbounded = j->unbounded;
    char error[700];
    size_t i = 0;
    for (; i < cases->count && j->failed == before && !interrupted(); i++) {
        const nl_case *c = &cases->items[i];
        const check_settings settings = {.threads = c->threads ? c->threads : j->o->threads,
                                         .context = j,
                                         .selects = selects,
                                         .judged = judged};
        progress(i, cases->count, c->text);
        if (!nl_accepts(j->impl, &c->problem)) continue;
        talk.c = c;
        if (!check_case(c, &settings, error, sizeof error))
            return fprintf(stderr, "normlab: %s: %s\n", c->text, error), false;
    }
    progress(1, 1, "");
    talk.c = NULL;
    *wrong = j->failed > before;
    const size_t count = j->checked - checked, open = j->unbounded - unbounded;
    if (interrupted() || count == 0) return true;
    const bool judges = open < count; /* without any bound, "ok" would be wrong */
    const char *paint = !j->out.colour ? ""
                        : *wrong       ? "\033[31m"
                        : judges       ? "\033[32m"
                                       : "\033[33m";
    printf("  %s%-4s%s  %-30s ", paint,
           *wrong   ? "FAIL"
           : judges ? "ok"
                    : "-",
           *paint ? "\033[0m" : "", subject);
    if (*wrong) return printf("%s\n", cases->items[i - 1].text), true;
    printf("%4zu case%s", count, count == 1 ? "" : "s");
    if (open && judges) printf(", no bound on %zu", open);
    puts(judges ? "" : ", no bound");
    return true;
}

static bool try_group(job *j, size_t group, bool *wrong) {
    case_list cases = {0};
    char error[700];
    bool ok = short_suite_subject(group)
                  ? short_suite_add(group, j->impl, &cases, error, sizeof error)
                  : suite_cases(&cases, SUITE_FOR_FEW, 0, error, sizeof error);
    if (!ok) fprintf(stderr, "normlab: %s\n", error);
    const char *subject = short_suite_subject(group);
    ok = ok && try_cases(j, subject ? subject : "the whole suite", &cases, wrong);
    cases_free(&cases);
    return ok;
}

/* Is m the rung to compare with, which computes the papers' formula? */
static bool is_naive(const nl_impl *m, const nl_problem *p) {
    const char *tail = strrchr(m->name, '/') + 1;
    return nl_is_own(m) &&
           strcmp(tail, p->pass == NL_FORWARD ? "naive" : nl_pass_name(p->pass)) == 0;
}

const nl_impl *attempt_naive(const nl_problem *p) {
    for (size_t i = 0; i < nl_impl_count(); i++)
        if (is_naive(nl_impl_at(i), p) && nl_accepts(nl_impl_at(i), p)) return nl_impl_at(i);
    return NULL;
}

static bool races(void *context, const nl_impl *impl, const nl_case *c) {
    const job *j = context;
    return nl_accepts(impl, &c->problem) &&
           (impl == j->impl || is_naive(impl, &c->problem) || impl == case_best(c, j->o->threads));
}

static bool is_baseline(void *context, const nl_impl *impl, const nl_case *c) {
    (void)c;
    const job *j = context;
    return impl != j->impl && is_naive(impl, &j->at.problem);
}

static void timed(void *context, const row *line) {
    job *j = context;
    if (line->v.outcome == OUTCOME_FAIL) report_failure(line, j->o->threads), j->failed++;
    report_row(&j->out, line);
}

/* Times each pass of the first layer and type that the kernel takes. */
static bool race(job *j) {
    const bench_settings settings = {.seconds = j->o->seconds,
                                     .precision = 0.01,
                                     .margin = 0.02,
                                     .threads = j->o->threads,
                                     .context = j,
                                     .selects = races,
                                     .is_baseline = is_baseline,
                                     .row = timed};
    const nl_op op = (nl_op)__builtin_ctz(j->impl->ops);
    const char *type = dtype_name(__builtin_ctz(j->impl->dtypes));
    for (nl_pass pass = 0; pass < NL_PASSES; pass++) {
        char text[CASE_TEXT], error[700];
        if (!(j->impl->passes & NL_BIT(pass))) continue;
        const size_t c = j->impl->c_max && j->impl->c_max < 1024 ? j->impl->c_max : 1024;
        snprintf(text, sizeof text, "%s/%s/%s/{64x%zu,%s%zu}/normal", nl_op_name(op),
                 nl_pass_name(pass), type, c, nl_layers[op].channels_first ? "8x64x" : "1024x",
                 nl_layers[op].channels_first ? 1024 : c);
        case_list cases = {0};
        bool ok = cases_add(&cases, text, error, sizeof error);
        for (size_t i = 0; ok && i < cases.count && !interrupted(); i++) {
            j->at = cases.items[i];
            ok = bench_case(&cases.items[i], &settings, error, sizeof error);
        }
        j->out.last = NULL;
        cases_free(&cases);
        if (!ok) return fprintf(stderr, "normlab: %s: %s\n", text, error), false;
    }
    return true;
}

static void describe(FILE *to, const nl_impl *m) {
    char ops[128], passes[128], types[128];
    fprintf(to, " %s %s in %s", names_of(m->ops, op_name, ", ", ops),
            names_of(m->passes, pass_name, ", ", passes),
            names_of(m->dtypes, dtype_name, ", ", types));
}

int attempt(const nl_impl *impl, const attempt_options *o) {
    job j = {.impl = impl, .o = o};
    const double start = clock_ns();
    size_t wrong_groups = 0;
    bool ok = true, wrong = false;
    j.out = (report){.table = stdout, .colour = colour_wanted(stdout)};
    interrupt_watch();
    isolate_heard = hear;
    /* unbuffered, so that a kernel's output before a crash shows */
    setvbuf(stdout, NULL, _IONBF, 0);
    printf("%s@%s:", impl->name, impl->isa);
    describe(stdout, impl);
    printf("; %s\n", impl->about);
    if (o->cases.count > 0) ok = try_cases(&j, "your cases", &o->cases, &wrong);
    for (size_t i = 0; !o->cases.count && ok && !interrupted(); i++) {
        if (wrong_groups == FAILED_MOST || (wrong_groups && clock_ns() - start > FAILED_NS)) {
            printf("  stopped after %zu failure%s; the simplest one:\n", wrong_groups,
                   wrong_groups == 1 ? "" : "s");
            break;
        }
        if (!short_suite_subject(i) && (!o->all || !short_suite_subject(i - 1))) break;
        ok = try_group(&j, i, &wrong), wrong_groups += wrong;
    }
    fflush(stdout);
    if (interrupted()) return NL_EXIT_INTERRUPTED;
    if (!ok) return NL_EXIT_USAGE;
    if (j.checked == 0) {
        fprintf(stderr, "FAIL nothing was compared: the kernel accepts");
        return describe(stderr, impl), fprintf(stderr, " only\n"), NL_EXIT_FAILED;
    }
    if (j.failed) {
        report_failure(&j.first, j.at.threads ? 1 : o->threads);
        hints_print(stderr, &j.at, NULL, NULL);
        return NL_EXIT_FAILED;
    }
    if (talk.cases)
        printf("not timed: the kernel prints\n");
    else if (!o->cases.count && !race(&j))
        return NL_EXIT_USAGE;
    if (interrupted()) return NL_EXIT_INTERRUPTED;
    if (j.failed) return NL_EXIT_FAILED;
    report_busy(&j.out);
    const size_t bounded = j.checked - j.unbounded;
    if (bounded)
        printf("right on %zu case%s, with errors up to %.0f %% of the bound%s\n", bounded,
               bounded == 1 ? "" : "s", 100 * j.share,
               j.batches && !*j.depends ? ", the same bits in every batch" : "");
    if (j.unbounded)
        printf("no bound on %zu case%s: %s\n", j.unbounded, j.unbounded == 1 ? "" : "s",
               impl->demonstration
                   ? "the kernel is a demonstration"
                   : "the kernel's method does not cover these data (.method, .range_safe)");
    if (*j.depends) print_folded(stdout, 0, j.depends);
    return NL_EXIT_OK;
}
