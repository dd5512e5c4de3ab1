/* `normlab bench`: verify, time, verify again. The implementations of a case take turns in rounds
 * on the same buffers, so that a slow moment of the machine hits all of them.
 * SPDX-License-Identifier: MIT */
#include "machine.h"
#include "options.h"
#include "report.h"
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "normlab bench [options] CASE... | FILE...\n\n"
    "Verifies every implementation that takes a case, times those that are right, and verifies\n"
    "them again. Time is the median over rounds, with the interval that holds it 95 times in "
    "100.\n\n"
    "  --impl GLOB[@ISA]  only these, several with commas; `best`: what nl_best() picks\n"
    "  --threads N        threads for those that use them (1)\n"
    "  --seconds S        of timing per implementation and case (0.3; with --quick 0.05)\n"
    "  --out FILE.csv     results as CSV, the machine's facts beside them\n"
    "  --quick            short timing, cases up to 2097152 elements\n\n"
    "Examples:\n"
    "  normlab bench layernorm/forward/f32/64x1024/normal\n"
    "  normlab bench '{layernorm,rmsnorm}/forward/f32/64x{128..8192*2}/normal' --impl "
    "'*/one_pass'\n"
    "  normlab bench experiments/ladder.txt --quick --out results/ladder.csv\n";

enum { ROUNDS = 15, LOW = 3, HIGH = 11 }; /* the 4th and 12th of 15: 96.5 % (sign test) */

typedef struct arm {
    const nl_impl *impl;
    row line;
    size_t calls; /* in a round */
    double ns[ROUNDS];
} arm;

static double time_calls(const instance *in, size_t calls, int threads) {
    double start = clock_ns();
    for (size_t i = 0; i < calls; i++)
        if (instance_call(in, threads) != NL_OK) return -1;
    return (clock_ns() - start) / (double)calls;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Runs the arm on clean buffers and judges what it leaves. */
static verdict judge(instance *in, const arm *a, const answer *want, int threads) {
    verdict v = {.outcome = OUTCOME_FAIL};
    in->impl = a->impl;
    instance_fill(in);
    if (instance_call(in, threads) == NL_OK) return compare(in, want);
    snprintf(v.why, sizeof v.why, "%s", nl_message());
    return v;
}

static void time_arms(instance *in, arm *arms, size_t count, const options *o) {
    for (size_t i = 0; i < count; i++) { /* warm up, and find how many calls fill a round */
        if (arms[i].line.v.outcome == OUTCOME_FAIL) continue;
        in->impl = arms[i].impl;
        double budget = o->seconds * 1e9 / ROUNDS, once = time_calls(in, 1, o->threads);
        for (arms[i].calls = 1; once * (double)arms[i].calls < budget / 4;) {
            arms[i].calls *= 2;
            once = time_calls(in, arms[i].calls, o->threads);
        }
        arms[i].calls = (size_t)(budget / once) + 1;
    }
    for (size_t r = 0; r < ROUNDS; r++)
        for (size_t k = 0; k < count; k++) {
            arm *a = &arms[(r + k) % count];
            if (a->line.v.outcome == OUTCOME_FAIL) continue;
            in->impl = a->impl;
            a->ns[r] = time_calls(in, a->calls, o->threads);
        }
}

/* False: bad input, already explained. */
static bool bench_case(const nl_case *c, const options *o, report *out, size_t *timed,
                       size_t *failed) {
    nl_data data;
    answer want;
    instance in;
    char error[700];
    size_t count = 0, scratch = 0;
    if (!data_make(c, &data, error, sizeof error))
        return fprintf(stderr, "normlab: %s\n", error), false;
    arm *arms = calloc(nl_impl_count(), sizeof *arms);
    for (size_t i = 0; arms && i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        if (!options_want(o, m, c)) continue;
        size_t bytes = nl_scratch_bytes(m, &c->problem);
        row line = {.c = c,
                    .impl = m->name,
                    .isa = m->isa,
                    .threads = m->threaded ? o->threads : 1,
                    .scratch_bytes = bytes};
        line.v.outcome = OUTCOME_SKIP;
        snprintf(line.v.why, sizeof line.v.why, "this processor has no %s", m->isa);
        if (!nl_isa_runs(m->isa))
            report_row(out, &line);
        else
            arms[count++] = (arm){.impl = m, .line = line};
        if (bytes > scratch) scratch = bytes;
    }
    if (!arms || !answer_make(c, &data, &want)) {
        fprintf(stderr, "normlab: no memory for the reference of %s\n", c->text);
        return free(arms), data_free(&data), false;
    }
    if (!instance_make(c, &data, NULL, scratch, PLACE_PAGE, &in)) {
        fprintf(stderr, "normlab: no memory for the buffers of %s\n", c->text);
        return free(arms), answer_free(&want), data_free(&data), false;
    }
    for (size_t i = 0; i < count; i++) arms[i].line.v = judge(&in, &arms[i], &want, o->threads);
    time_arms(&in, arms, count, o);
    for (size_t i = 0; i < count; i++) {
        arm *a = &arms[i];
        if (a->line.v.outcome != OUTCOME_FAIL) {
            verdict after = judge(&in, a, &want, o->threads);
            if (after.outcome == OUTCOME_FAIL) a->line.v = after;
        }
        if (a->line.v.outcome == OUTCOME_FAIL) {
            fprintf(stderr,
                    "FAIL %s@%s on %s: %s\n     repeat: normlab check '%s' --impl '%s@%s'\n",
                    a->impl->name, a->impl->isa, c->text, a->line.v.why, c->text, a->impl->name,
                    a->impl->isa);
            ++*failed;
        } else {
            qsort(a->ns, ROUNDS, sizeof *a->ns, by_size);
            a->line.ns = a->ns[ROUNDS / 2], a->line.ns_min = a->ns[0];
            a->line.ns_low = a->ns[LOW], a->line.ns_high = a->ns[HIGH];
            ++*timed;
        }
        report_row(out, &a->line);
    }
    if (count == 0 && !o->impl) fprintf(stderr, "FAIL nothing accepts %s\n", c->text), ++*failed;
    instance_free(&in);
    answer_free(&want);
    data_free(&data);
    free(arms);
    return true;
}

int verb_bench(int argc, char **argv) {
    options o;
    report out;
    size_t timed = 0, failed = 0, arms = 0;
    bool input_ok = true;
    int code = options_parse(argc, argv, help, &o);
    if (code >= 0) return cases_free(&o.cases), code;
    if (o.cases.count == 0) {
        fprintf(stderr,
                "normlab bench: name a case or a file of cases. See `normlab bench --help`.\n");
        return NL_EXIT_USAGE;
    }
    for (size_t i = 0; i < o.cases.count; i++)
        for (size_t k = 0; k < nl_impl_count(); k++)
            arms += options_want(&o, nl_impl_at(k), &o.cases.items[i]);
    if (!report_open(&out, o.out)) return cases_free(&o.cases), NL_EXIT_USAGE;
    fprintf(stderr, "%zu cases, %zu timings of %.2g s: at least %.0f s, and verification\n",
            o.cases.count, arms, o.seconds, (double)arms * o.seconds);
    for (size_t i = 0; i < o.cases.count && input_ok; i++) {
        progress(i, o.cases.count, o.cases.items[i].text);
        input_ok = bench_case(&o.cases.items[i], &o, &out, &timed, &failed);
    }
    progress(1, 1, "");
    fprintf(stderr, "%zu timed, %zu failed\n", timed, failed);
    if (timed == 0) fprintf(stderr, "FAIL nothing was timed\n");
    bool written = report_close(&out);
    cases_free(&o.cases);
    return !input_ok ? NL_EXIT_USAGE : timed && !failed && written ? NL_EXIT_OK : NL_EXIT_FAILED;
}
