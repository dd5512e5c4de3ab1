/* `normlab bench`: verify, time, verify again. SPDX-License-Identifier: MIT */
#include "base/csv.h"
#include "base/interrupt.h"
#include "registry.h"
#include "timing/bench.h"
#include "cli/passes.h"
#include "cli/admission.h"
#include "cli/report.h"
#include "cli/terminal.h"
#include "commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "normlab bench [options] CASE... | FILE...\n\n"
    "Verifies every implementation of a case, times the right ones against each other and\n"
    "against the machine's limit, and verifies again (docs/measuring.md). Stops when every\n"
    "interval's half-width is below --precision or the time is up, and reports the reason.\n\n"
    "  --impl GLOB[@ISA]      only these implementations (A,B,...); `best`: nl_best()'s choice.\n"
    "                         Default: all but peers (docs/peers.md) and demonstrations, which\n"
    "                         show errors, not speed. A kernel is timed on the widest instruction\n"
    "                         set that runs here (NL_ISA=avx2 in the environment: at most that);\n"
    "                         with @avx2 on AVX2, with @* on all sets\n"
    "  --load FILE            adds the kernels of a library (FILE.so, normlab_kernel.h), or of\n"
    "                         FILE.c, compiled as by `normlab try` and named try/FILE; may be\n"
    "                         repeated\n"
    "  --baseline GLOB[@ISA]  compare with this, or with `best` (default: the naive rung, else the "
    "first)\n"
    "  --threads N            threads for kernels that use them, and for the limit (1)\n"
    "  --seconds S            time per implementation and case (0.3; with --quick 0.05)\n"
    "  --precision P          stop when each interval's half-width is below this fraction (0.01)\n"
    "  --margin M             SAME: interval and A/A band lie within +- M (0.02)\n"
    "  --passes N             measure everything N times, each time in twelve fresh processes\n"
    "                         (--quick: three), which share --seconds, and in random order;\n"
    "                         intervals cover differences between passes. --out is a folder, to\n"
    "                         which passes are added; `compare` compares two folders\n"
    "  --out FILE.csv         results; beside them FILE.rounds.csv and FILE.machine.txt\n"
    "  --quick                short timing, cases up to 2097152 elements\n\n"
    "Verdicts against the baseline: FASTER, SLOWER, SAME, or NOT RESOLVED. The speed against the\n"
    "baseline is the median of the ratios within rounds, not the quotient of the two times.\n"
    "Without --out, a terminal gets a table, and a file or pipe gets CSV.\n\n"
    "Examples:\n"
    "  normlab bench layernorm/forward/f32/64x1024/normal\n"
    "  normlab bench '{layernorm,rmsnorm}/forward/f32/64x{128..8192*2}/normal' --impl "
    "'*/one_pass'\n"
    "  normlab bench 'rmsnorm/forward/f32/64x1024/normal{,/rotating,/cold}'\n"
    "  normlab bench layernorm/forward/f32/64x1024/normal --impl 'optimized/rows_simd@*'\n"
    "  normlab bench rmsnorm/forward/f32/64x1024/normal --load ./mine.so\n"
    "  normlab bench CASE --load old.c --load new.c --impl 'try/*' --baseline try/old\n"
    "  normlab bench experiments/ladder.txt --quick --out results/ladder.csv\n";

typedef struct job {
    const case_options *o;
    report out;
    bool again;   /* a pass's first process has printed the failures and notes */
    FILE *rounds; /* NULL: none */
    admission *admissions;
    size_t timed, failed;
} job;

static bool selects(void *context, const nl_impl *impl, const nl_case *c) {
    const job *j = context;
    return case_options_selects(j->o, impl, c) && !admission_failure(j->admissions, impl, c);
}

/* Was a threaded implementation selected by `best`? Then nl_best() also chooses the number of
 * threads. */
static bool unnamed(void *context, const nl_impl *impl) {
    const job *j = context;
    return impl->threaded && j->o->impl && !impl_matches(j->o->impl, impl);
}

static bool is_baseline(void *context, const nl_impl *impl, const nl_case *c) {
    const job *j = context;
    return case_options_is_baseline(j->o, impl, c);
}

static void take_row(void *context, const row *line) {
    job *j = context;
    if (line->v.outcome == OUTCOME_FAIL) {
        if (!j->again) report_failure(line, 1);
        j->failed += !nl_is_peer(line->impl); /* a peer's mistake is a result, not a failure */
    }
    j->timed += line->timed;
    report_row(&j->out, line);
}

/* An implementation that is wrong on the short suite gets a row, and is not timed. */
static void report_wrong(job *j, const nl_case *c) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        const char *wrong = admission_failure(j->admissions, m, c);
        if (!wrong || !case_options_selects(j->o, m, c)) continue;
        const verdict v = failure("%s", wrong);
        take_row(j, &(row){.c = c, .impl = m->name, .isa = m->isa, .v = v, .threads = 1});
    }
}

static void take_round(void *context, const bench_round *r) {
    const job *j = context;
    if (!j->rounds) return;
    csv_text(j->rounds, r->c->text);
    fprintf(j->rounds, "%s,%s,%d,%zu,%zu,%zu,%.6g\n", r->impl, r->isa, r->threads, r->round,
            r->position, r->calls, r->ns);
}

static void take_note(void *context, const char *text) {
    if (!((const job *)context)->again) fprintf(stderr, "%s\n", text);
}

/* Opens the file of raw rounds beside the results: x.csv gets x.rounds.csv. */
static FILE *open_rounds(const char *csv_path) {
    char path[CSV_PATH];
    FILE *f = csv_beside(csv_path, ".rounds.csv", path) ? fopen(path, "w") : NULL;
    if (f)
        fputs("case,impl,isa,threads,round,position,calls,ns\n", f);
    else
        fprintf(stderr, "normlab: cannot write %s: %s\n", path, strerror(errno));
    return f;
}

static bool close_rounds(FILE *f) {
    bool good = !ferror(f);
    if (fclose(f) == 0 && good) return true;
    fprintf(stderr, "normlab: writing the rounds failed: %s\n", strerror(errno));
    return false;
}

/* Times the cases in turn. False: bad input, after a message. */
static bool bench_all(job *j) {
    const case_options *o = j->o;
    const bench_settings settings = {.seconds = o->seconds,
                                     .precision = o->precision,
                                     .margin = o->margin,
                                     .threads = o->threads,
                                     .context = j,
                                     .selects = selects,
                                     .unnamed = unnamed,
                                     .is_baseline = o->baseline ? is_baseline : NULL,
                                     .row = take_row,
                                     .round = take_round,
                                     .note = take_note};
    char error[700];
    for (size_t i = 0; i < o->cases.count; i++) {
        const nl_case *c = &o->cases.items[i];
        bool taken = false;
        for (size_t k = 0; k < nl_impl_count(); k++)
            taken = taken || nl_accepts(nl_impl_at(k), &c->problem);
        progress(i, o->cases.count, c->text);
        if (!taken || c->problem.n == 0) progress_clear();
        if (taken && c->problem.n == 0) {
            fprintf(stderr, "FAIL nothing to time in %s: n is 0\n", c->text), j->failed++;
            continue;
        }
        if (!taken) fprintf(stderr, "FAIL no implementation accepts %s\n", c->text), j->failed++;
        if (taken && !(admission_check(j->admissions, o, c, error, sizeof error) &&
                       bench_case(c, &settings, error, sizeof error)))
            return fprintf(stderr, "normlab: %s: %s\n", c->text, error), false;
        if (taken) report_wrong(j, c);
        if (report_interrupted(&j->out, i + 1, o->cases.count)) break;
    }
    progress(1, 1, "");
    return true;
}

int cmd_bench(int argc, char **argv) {
    case_options o = {.threads = 1, .seconds = 0.3, .quick_seconds = 0.05};
    const char *pass = getenv("NL_PASS"); /* the number of this process in its pass */
    job j = {.o = &o, .again = pass && atoi(pass) > 1};
    size_t candidates = 0;
    int code = case_options_read(argc, argv, help, &o);
    if (code >= 0) return cases_free(&o.cases), code;
    o.race = true;
    if (o.cases.count == 0) {
        fprintf(stderr,
                "normlab bench: name a case or a file of cases. See `normlab bench --help`.\n");
        return NL_EXIT_USAGE;
    }
    if (o.passes) {
        code = bench_passes(&o);
        return cases_free(&o.cases), code;
    }
    for (size_t i = 0; i < o.cases.count; i++)
        for (size_t k = 0; k < nl_impl_count(); k++)
            candidates += case_options_selects(&o, nl_impl_at(k), &o.cases.items[i]);
    if (!report_open(&j.out, o.out, o.quick)) return cases_free(&o.cases), NL_EXIT_USAGE;
    j.admissions = calloc(nl_impl_count(), sizeof *j.admissions);
    if (!j.admissions) return fprintf(stderr, "normlab: out of memory\n"), NL_EXIT_FAILED;
    j.rounds = o.out ? open_rounds(o.out) : NULL;
    if (o.out && !j.rounds) return cases_free(&o.cases), NL_EXIT_USAGE;
    if (!pass)
        fprintf(stderr, "%zu case%s, %zu timing%s of %.2g s each: about %.0f s\n", o.cases.count,
                o.cases.count == 1 ? "" : "s", candidates, candidates == 1 ? "" : "s", o.seconds,
                1.2 * o.seconds * (double)(candidates + 2 * o.cases.count) +
                    0.1 * (double)o.cases.count);
    bool input_ok = bench_all(&j);
    if (!pass) fprintf(stderr, "%zu timed, %zu failed\n", j.timed, j.failed);
    if (!j.again) report_busy(&j.out);
    if (j.timed == 0 && !j.again) fprintf(stderr, "FAIL nothing was timed\n");
    bool written = report_written(j.out.csv, j.out.path);
    if (j.rounds) written = close_rounds(j.rounds) && written;
    cases_free(&o.cases);
    free(j.admissions);
    if (!input_ok) return NL_EXIT_USAGE;
    if (interrupted()) return NL_EXIT_INTERRUPTED;
    return j.timed && !j.failed && written ? NL_EXIT_OK : NL_EXIT_FAILED;
}
