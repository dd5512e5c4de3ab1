/* `normlab check`: compares every implementation of a case with the reference in two calls: with
 * guard pages at the ends of its buffers, then at their starts. SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/interrupt.h"
#include "best.h"
#include "cases/suite.h"
#include "registry.h"
#include "cli/case_options.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "commands/commands.h"
#include "verify/verify.h"
#include "verify/error_record.h"
#include "verify/worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "normlab check [options] [CASE... | FILE...]\n\n"
    "Verifies implementations against the long-double reference. Without a case: a suite of every\n"
    "layer, pass, type and kind of data. Exit code 1 if anything failed or nothing was "
    "compared.\n"
    "\n"
    "  --impl GLOB[@ISA]  only these implementations (A,B,...); `best`: nl_best()'s choice.\n"
    "                     Default: all but peers (docs/peers.md)\n"
    "  --load FILE        adds the kernels of a library (FILE.so, normlab_kernel.h), or of\n"
    "                     FILE.c, compiled as by `normlab try`, named try/FILE; may be repeated\n"
    "  --threads N        threads for kernels that use them (1)\n"
    "  --out FILE.csv     results as CSV; FILE.machine.txt: the machine's facts\n"
    "  --batch            a loaded kernel, or a peer, fails if a row's bits depend on its batch;\n"
    "                     without --batch, it gets only a note; our own kernels fail either way\n"
    "  --first            stop at the first failure\n"
    "  --quick            leave out cases above 2097152 elements\n"
    "  --long[=SECONDS]   the suite and slow cases: 10^6 rows, 2^20 features, outputs larger\n"
    "                     than the caches; then random cases for SECONDS\n"
    "  --seed N           draw other random cases (0)\n"
    "  --errors FILE      fail if an error is above its record or not on record, or if a recorded\n"
    "                     error was not measured; only with the suite\n"
    "  --update-errors FILE  record the errors of the implementations that run here\n\n"
    "Examples:\n"
    "  normlab check\n"
    "  normlab check --errors tests/largest_errors.csv\n"
    "  normlab check layernorm/forward/f16/64x1000/offset:100/residual\n"
    "  normlab check 'rmsnorm/forward/{f32,bf16}/3x{1..67}/normal' --impl 'rmsnorm/*'\n"
    "  normlab check --load ./mine.so --impl rmsnorm/mine\n"
    "  normlab check --load ./mine.so --impl rmsnorm/mine --batch\n"
    "  normlab check --load mine.c --impl try/mine\n"
    "  normlab check experiments/activations.txt --out results/activations.csv\n";

typedef struct count {
    size_t ok, fail, demo, skip;
    double share; /* largest ratio of an error to its bound */
    bool depends; /* the note that bits depend on the batch was printed */
} count;

static void add(count *n, const verdict *v) {
    n->ok += v->outcome == OUTCOME_OK;
    n->fail += v->outcome == OUTCOME_FAIL;
    n->demo += v->outcome == OUTCOME_DEMO;
    n->skip += v->outcome == OUTCOME_SKIP;
    if (v->outcome == OUTCOME_OK && v->bound_u > 0 && v->error_u / v->bound_u > n->share)
        n->share = v->error_u / v->bound_u;
}

typedef struct job {
    const case_options *o;
    bool whole;        /* checks the suite: shows each failure on the smallest case */
    report out, quiet; /* quiet: without a table */
    bool rows;         /* print every row of the table, not only failures */
    checkers checkers;
    count *counts; /* one per implementation; the checkers share this memory */
    count all;
    double closest; /* the largest share of a bound that an error took */
    char closest_to[CASE_TEXT + 100];
    size_t judged, last;   /* cases with a verdict; number of the last one, plus 1 */
    bool gave_up;          /* some implementation is not called any more */
    unsigned char *states; /* [implementations][cases]: outcome of each check */
    error_record largest;
} job;

enum {
    GIVEN_UP = 200, /* after this number of failures an implementation is not called again: each
                     * failure costs a process */
    MANY = 100      /* from this number of cases on, parallel checkers save time */
};

static bool selects(void *context, const nl_impl *impl, const nl_case *c) {
    const job *j = context;
    if ((j->o->first && j->all.fail) || !case_options_selects(j->o, impl, c)) return false;
    return j->counts[impl_index(impl)].fail < GIVEN_UP;
}

static bool note(void *context, const nl_case *c, const nl_impl *m, const verdict *v) {
    job *j = context; /* the record has no peers, whose versions vary, and no loaded kernels */
    return !j->o->errors || !nl_is_own(m) || error_record_note(&j->largest, m, c, v);
}

/* Prints each failure once, on the smallest case that shows it. */
static void show(job *j, const nl_impl *m, row w) {
    static struct shown {
        const nl_impl *impl;
        char text[CASE_TEXT];
    } shown[FAILURES_MAX];
    nl_case small = *w.c;
    if (j->whole && shrink(&small, &w.v, m, j->o->threads)) {
        progress_clear();
        fprintf(stderr, "(the smallest case that fails like %s)\n", w.c->text);
        w.c = &small;
    }
    size_t i = 0;
    while (i < j->all.fail && (shown[i].impl != m || strcmp(shown[i].text, small.text) != 0)) i++;
    shown[j->all.fail].impl = m;
    strcpy(shown[j->all.fail].text, small.text);
    if (i == j->all.fail) report_failure(&w, j->o->threads);
    hints_note(m, &w, case_options_threads(j->o, &small));
}

static void note_batch(const nl_case *c, const nl_impl *m, const verdict *v) {
    progress_clear();
    fprintf(stderr, "note: %s@%s on %s\n", m->name, m->isa, c->text);
    print_folded(stderr, 5, v->why);
}

/* Notes which check came closest to its bound, and how many of the cases had a verdict. */
static void note_case(job *j, size_t number, const nl_case *c, const nl_impl *m, const verdict *v) {
    const double share = v->bound_u > 0 ? v->error_u / v->bound_u : 0;
    if (number < j->o->cases.count && number + 1 != j->last) j->judged++, j->last = number + 1;
    if (v->outcome != OUTCOME_OK || !(share > j->closest)) return;
    j->closest = share;
    snprintf(j->closest_to, sizeof j->closest_to, "%s@%s, %.1f %% on %s", m->name, m->isa,
             floor(1000 * share) / 10, c->text); /* rounds down: 100 % would be a failure */
}

static void take(void *context, const nl_case *c, const nl_impl *m, const verdict *v) {
    job *j = context;
    const bool failed = v->outcome == OUTCOME_FAIL;
    const int threads = case_options_threads(j->o, c);
    count *its = &j->counts[impl_index(m)];
    if (its->fail >= GIVEN_UP) return; /* another checker reached the limit first */
    const size_t number = (size_t)(c - j->o->cases.items);
    if (number < j->o->cases.count && (v->outcome == OUTCOME_OK || failed))
        j->states[impl_index(m) * j->o->cases.count + number] = failed ? CASE_FAILED : CASE_RIGHT;
    note_case(j, number, c, m, v);
    row w = {.c = c, .impl = m->name, .isa = m->isa, .v = *v};
    w.threads = nl_plan_of(m, &c->problem, threads).threads;
    if (nl_isa_runs(m->isa)) w.scratch_bytes = nl_scratch_bytes(m, &c->problem);
    report_row(j->rows || failed ? &j->out : &j->quiet, &w);
    if (failed && j->all.fail < FAILURES_MAX)
        show(j, m, w);
    else if (failed)
        hints_note(m, &w, threads);
    if (failed && j->all.fail == FAILURES_MAX)
        fprintf(stderr, "(further failures are only in the table or CSV)\n");
    if (v->depends && !its->depends) note_batch(c, m, v), its->depends = true;
    add(its, v);
    add(&j->all, v);
    if (!failed || its->fail != GIVEN_UP) return;
    j->gave_up = true;
    progress_clear();
    fprintf(stderr, "(%s@%s has failed %d times and is not called again)\n", m->name, m->isa,
            GIVEN_UP);
}

static check_settings settings_of(void *context, const nl_case *c) {
    const job *j = context;
    return (check_settings){.threads = case_options_threads(j->o, c),
                            .context = context,
                            .selects = selects,
                            .judged = take,
                            .noted = note};
}

/* Checks all implementations on one case, number i of the list. False: bad input, after a
 * message. */
static bool check_all(job *j, const nl_case *c, size_t i) {
    char error[700];
    bool taken = false;
    const check_settings settings = settings_of(j, c);
    if (!checkers_next(&j->checkers, i, c, &settings, error, sizeof error))
        return fprintf(stderr, "normlab: %s\n", error), false;
    for (size_t m = 0; m < nl_impl_count() && !taken; m++)
        taken = nl_accepts(nl_impl_at(m), &c->problem);
    if (!taken) progress_clear(), j->all.fail++;
    if (!taken) fprintf(stderr, "FAIL no implementation accepts %s\n", c->text);
    return true;
}

static void say_when(void *context, const nl_impl *m, char *text, size_t size) {
    const job *j = context;
    const case_list *cases = &j->o->cases;
    when_text(cases->items, j->states + impl_index(m) * cases->count, cases->count, text, size);
}

static void summarize(const count *counts) {
    fprintf(stderr, "\n%-37s %-6s %7s %7s %7s %7s  %s\n", "implementation", "isa", "ok", "demo",
            "skip", "fail", "largest error / bound");
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const count *n = &counts[i];
        const nl_impl *m = nl_impl_at(i);
        if (n->ok + n->fail + n->demo + n->skip == 0) continue;
        fprintf(stderr, strlen(m->name) > 37 ? "%s\n%37s" : "%-37s%s", m->name, "");
        fprintf(stderr, " %-6s %7zu %7zu %7zu %7zu  ", m->isa, n->ok, n->demo, n->skip, n->fail);
        if (n->ok)
            fprintf(stderr, "%.1f %%\n", floor(1000 * n->share) / 10); /* 100 % would fail */
        else
            fprintf(stderr, "-\n"); /* no error was checked against a bound */
    }
}

/* Draws cases until the time is up. False: interrupted. */
static bool draw_on(job *j) {
    const double end = clock_ns() + 1e9 * j->o->also_long;
    char error[700];
    size_t drawn = 0;
    for (bool ok = true; ok && clock_ns() < end && !(j->o->first && j->all.fail); drawn++) {
        case_list one = {0};
        ok = drawn_case(&one, (uint64_t)j->o->seed, DRAWN + drawn, error, sizeof error);
        if (ok) progress(drawn, drawn + 1, one.items[0].text);
        ok = ok ? check_all(j, &one.items[0], drawn) && !interrupted()
                : (fprintf(stderr, "normlab: %s\n", error), false);
        j->out.last = NULL;
        cases_free(&one);
    }
    fprintf(stderr, "%zu more cases drawn from seed %d\n", drawn, j->o->seed);
    return !interrupted();
}

static void take_finding(void *context, const error_finding *f) {
    size_t *found = context;
    if (++*found > FAILURES_MAX) return;
    fprintf(stderr, "FAIL %s\n", f->text);
    if (f->repeat) report_repeat(f->repeat, f->line->name, f->line->isa, 1);
}

static bool record_compare(const error_record *e) {
    size_t found = 0;
    error_counts n = error_record_compare(e, take_finding, &found);
    if (found > FAILURES_MAX) fprintf(stderr, "(and %zu more like these)\n", found - FAILURES_MAX);
    fprintf(stderr,
            "largest errors: %zu compared with %s, %zu failed; %zu on record were not measured\n",
            n.compared, e->path, n.failed, n.not_run);
    if (n.unknown)
        fprintf(stderr,
                "NOT COMPARED: %s has no errors on record; `normlab check --update-errors %s` adds "
                "them.\n",
                n.unknown, e->path);
    if (n.failed)
        fprintf(stderr,
                "If this is intended, run `normlab check --update-errors %s` and commit the file "
                "with the reason.\n",
                e->path);
    return n.failed == 0 && n.compared > 0;
}

static bool record_update(const error_record *e) {
    char error[700];
    size_t lines;
    bool ok = error_record_update(e, &lines, error, sizeof error);
    if (ok)
        fprintf(stderr, "largest errors: %s has %zu lines\n", e->path, lines);
    else
        fprintf(stderr, "normlab: %s\n", error);
    return ok;
}

int cmd_check(int argc, char **argv) {
    case_options o = {.threads = 1};
    job j = {.o = &o};
    char error[700];
    int code = case_options_read(argc, argv, help, &o);
    if (code >= 0) return cases_free(&o.cases), code;
    const bool whole = j.whole = !o.named;
    verify_batches = o.batch;
    if (o.errors && (o.named || o.also_long >= 0 || (o.impl && strstr(o.impl, "best")))) {
        fprintf(stderr,
                "normlab: --%serrors is for the suite: no cases, no --long and no --impl best\n",
                o.update_errors ? "update-" : "");
        return cases_free(&o.cases), NL_EXIT_USAGE;
    }
    /* --errors needs SUITE_FOR_ALL: the record covers it */
    const suite_depth depth = o.also_long >= 0      ? SUITE_LONG
                              : o.impl && !o.errors ? SUITE_FOR_FEW
                                                    : SUITE_FOR_ALL;
    if (whole && !suite_cases(&o.cases, depth, (uint64_t)o.seed, error, sizeof error))
        return fprintf(stderr, "normlab: %s\n", error), NL_EXIT_FAILED;
    count *counts = j.counts = worker_share(nl_impl_count() * sizeof *counts);
    j.states = calloc(nl_impl_count() * o.cases.count + 1, 1);
    bool ready = counts && j.states;
    if (ready && o.errors)
        ready = error_record_open(&j.largest, o.errors, o.update_errors, error, sizeof error) ||
                (fprintf(stderr, "normlab: %s\n", error), false);
    if (!counts || !j.states) fprintf(stderr, "normlab: out of memory\n");
    if (!ready || !report_open(&j.out, o.out, o.quick))
        return free(j.states), error_record_close(&j.largest), cases_free(&o.cases), NL_EXIT_USAGE;
    j.rows = o.cases.count <= 20, j.quiet = j.out, j.quiet.table = NULL;
    bool input_ok = true, stopped = false, ended = false;
    if (o.cases.count >= MANY)
        checkers_start(&j.checkers, o.cases.items, o.cases.count, settings_of, &j);
    size_t reached = 0;
    while (reached < o.cases.count && input_ok && !stopped && !ended) {
        const size_t i = reached++;
        progress(i, o.cases.count, o.cases.items[i].text);
        input_ok = check_all(&j, &o.cases.items[i], i);
        stopped = report_interrupted(&j.out, reached, o.cases.count);
        ended = o.first && j.all.fail;
    }
    checkers_end(&j.checkers);
    if (o.also_long > 0 && input_ok && !stopped && !ended) stopped = !draw_on(&j);
    progress(1, 1, "");
    if (input_ok && (o.cases.count != 1 || !j.out.table))
        summarize(counts); /* one case needs no summary: the table is enough */
    for (size_t i = 0; whole && !stopped && !ended && !o.impl && i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        if (counts[i].ok + counts[i].fail + counts[i].demo + counts[i].skip || nl_is_peer(m->name))
            continue;
        fprintf(stderr, "FAIL %s@%s was never compared\n", m->name, m->isa);
        j.all.fail++;
    }
    if (input_ok && j.closest > 0 && o.cases.count > 1)
        fprintf(stderr, "closest to its bound: %s\n", j.closest_to);
    if (input_ok && reached < o.cases.count) fprintf(stderr, "%zu of ", reached);
    if (input_ok)
        fprintf(stderr, "%zu case%s: %zu ok, %zu demo, %zu skipped, %zu failed", o.cases.count,
                o.cases.count == 1 ? "" : "s", j.all.ok, j.all.demo, j.all.skip, j.all.fail);
    if (input_ok && !stopped && !ended && !j.gave_up && j.judged < o.cases.count)
        fprintf(stderr, "; %zu accepted only by other kernels", o.cases.count - j.judged);
    if (input_ok) fprintf(stderr, "\n");
    if (input_ok && !stopped && j.all.ok + j.all.demo + j.all.fail == 0)
        fprintf(stderr, "FAIL nothing was compared%s\n",
                o.impl ? ": no implementation of --impl runs a case here; see `normlab list`" : "");
    if (!stopped) hints_print(stderr, NULL, say_when, &j);
    bool written = report_written(j.out.csv, j.out.path),
         good = input_ok && !stopped && j.all.ok + j.all.demo > 0 && j.all.fail == 0;
    if (o.errors && !o.update_errors && !stopped && !ended)
        good = record_compare(&j.largest) && good;
    if (o.update_errors && !good) fprintf(stderr, "%s is unchanged\n", o.errors);
    if (o.update_errors && good) good = record_update(&j.largest);
    error_record_close(&j.largest);
    free(j.states);
    cases_free(&o.cases);
    if (input_ok && stopped) return NL_EXIT_INTERRUPTED;
    return !input_ok ? NL_EXIT_USAGE : good && written ? NL_EXIT_OK : NL_EXIT_FAILED;
}
