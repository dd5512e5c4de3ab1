/* SPDX-License-Identifier: MIT */
#include "cli/report.h"
#include "base/csv.h"
#include "base/interrupt.h"
#include "machine/machine.h"
#include "cli/terminal.h"
#include "workbench/load.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = 26 }; /* a width that suffices for most names */

/* Creates the file, and its folder if missing (not the parents): a fresh clone has no results/. */
static FILE *open_new(const char *path, const char *mode) {
    const char *slash = strrchr(path, '/');
    const int length = slash ? (int)(slash - path) : 0;
    char folder[CSV_PATH];
    FILE *f = fopen(path, mode);
    if (f || errno != ENOENT || !length || (size_t)length >= sizeof folder) return f;
    snprintf(folder, sizeof folder, "%.*s", length, path);
    if (mkdir(folder, 0777) == 0) {
        fprintf(stderr, "made the folder %s\n", folder);
        return fopen(path, mode);
    }
    fprintf(stderr, "normlab: the folder of %s is missing: mkdir -p '%s'\n", path, folder);
    return errno = ENOENT, NULL;
}

static bool cannot_write(const char *path) {
    return fprintf(stderr, "normlab: cannot write %s: %s\n", path, strerror(errno)), false;
}

bool report_can_write(const char *path) {
    struct stat s;
    const bool is_new = path && stat(path, &s) != 0;
    if (!path || (!is_new && !S_ISREG(s.st_mode))) return true;
    FILE *f = open_new(path, "a");
    if (!f) return cannot_write(path);
    fclose(f);
    return !is_new || remove(path) == 0 || cannot_write(path);
}

/* Locks a file until it is closed. False: another process has locked it. */
static bool lock(FILE *f) {
    return flock(fileno(f), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* Empties a file; a pipe or a device (EINVAL) stays. */
static bool empty(FILE *f) {
    return ftruncate(fileno(f), 0) == 0 || errno == EINVAL;
}

bool report_file(FILE **csv, const char *path, bool quick) {
    *csv = path ? open_new(path, "a") : isatty(STDOUT_FILENO) ? NULL : stdout;
    if (path && !*csv) return cannot_write(path);
    if (path && !lock(*csv)) {
        fprintf(stderr, "normlab: another process is writing %s; choose another --out\n", path);
        return fclose(*csv), false;
    }
    if (!path) return true;
    if (machine_write_beside(path, quick, load_checksum()))
        return empty(*csv) || cannot_write(path);
    fprintf(stderr,
            "normlab: cannot write FILE.machine.txt beside --out FILE.csv, %s: name a file in a "
            "folder that can be written\n",
            path);
    return fclose(*csv), false;
}

bool report_written(FILE *csv, const char *path) {
    bool ok = !csv || (fflush(csv) == 0 && !ferror(csv));
    if (path) ok = fclose(csv) == 0 && ok;
    if (!ok)
        fprintf(stderr, "normlab: writing the results failed: %s\n", strerror(errno));
    else if (path && !getenv("NL_PASS")) /* the path of a pass changes at its end */
        fprintf(stderr, "results: %s\n", path);
    return ok;
}

bool report_open(report *r, const char *csv_path, bool quick) {
    *r = (report){.path = csv_path, .colour = colour_wanted(stdout)};
    interrupt_watch();
    if (!report_file(&r->csv, csv_path, quick)) return false;
    if (csv_path || !r->csv) r->table = stdout;
    if (r->csv)
        fprintf(r->csv, "case,impl,isa,threads,op,pass,dtype,n,c,s,data,options,verdict,error_u,"
                        "bound_u,ns,ns_low,ns_high,ns_min,gbps,limit_gbps,limit_pct,bytes,"
                        "state_bytes,scratch_bytes,baseline,speedup,speedup_low,speedup_high,"
                        "comparison,aa_band,quiet_ns,quiet_speedup,rounds,calls,stopped,flag\n");
    return true;
}

static void number(FILE *out, double v, bool known) {
    csv_number(out, known ? v : NAN);
}

static double gbps(const row *w) {
    return (double)case_bytes(w->c) / w->t.ns.median;
}

/* Writes the fields of a timing; the fields are empty if nothing was timed. */
static void write_csv_timing(FILE *out, const row *w) {
    const timing *t = &w->t;
    if (!w->timed) {
        fputs(",,,,,,,,,,,\n", out);
        return;
    }
    csv_text(out, t->baseline);
    csv_number(out, exp(-t->log_ratio.median));
    number(out, exp(-t->log_ratio.high), isfinite(t->log_ratio.high));
    number(out, exp(-t->log_ratio.low), isfinite(t->log_ratio.low));
    fprintf(out, "%s,", w->is_baseline ? "baseline" : comparison_name(t->verdict));
    number(out, expm1(t->band), isfinite(t->band));
    csv_number(out, exp(t->quiet.log_time));
    csv_number(out, exp(-t->quiet.log_ratio));
    fprintf(out, "%zu,%zu,%s,%s\n", t->rounds, t->calls, t->stopped,
            t->impossible ? "IMPOSSIBLE" : "");
}

static void write_csv(FILE *out, const row *w) {
    const nl_problem *p = &w->c->problem;
    const timing *t = &w->t;
    bool judged = w->v.outcome != OUTCOME_SKIP;
    csv_text(out, w->c->text);
    csv_text(out, w->impl);
    fprintf(out, "%s,%d,%s,%s,%s,%zu,%zu,%zu,", w->isa, w->threads, nl_op_name(p->op),
            nl_pass_name(p->pass), nl_dtype_name(p->dtype), p->n, p->c, p->s);
    csv_text(out, w->c->data);
    csv_text(out, w->c->text + w->c->options);
    fprintf(out, "%s,", outcome_name(w->v.outcome));
    number(out, w->v.error_u, judged);
    number(out, w->v.bound_u, judged);
    number(out, t->ns.median, w->timed);
    number(out, t->ns.low, w->timed && isfinite(t->ns.low));
    number(out, t->ns.high, w->timed && isfinite(t->ns.high));
    number(out, t->ns_min, w->timed);
    number(out, gbps(w), w->timed);
    number(out, t->limit_gbps, w->timed);
    number(out, t->limit_pct, w->timed);
    fprintf(out, "%zu,%zu,%zu,", case_bytes(w->c), case_state_bytes(w->c), w->scratch_bytes);
    write_csv_timing(out, w);
}

/* Prints "3.45x FASTER"; below an unresolved comparison, also the number of missing rounds. */
static void write_table_timing(report *r, const row *w) {
    const timing *t = &w->t;
    char time[32];
    double half = (t->ns.high - t->ns.low) / 2 / t->ns.median;
    fprintf(r->table, " %7s", human_ns(t->ns.median, time));
    if (half < 9.995)
        fprintf(r->table, " %4.*f%%", half < 0.9995, 100 * half);
    else
        fprintf(r->table, " %5s", "?");
    fprintf(r->table, " %5.*f %3.0f%%", gbps(w) < 9.95, gbps(w), t->limit_pct);
    if (w->is_baseline)
        fprintf(r->table, " %6s baseline +-%.*f%%", "1.00x", t->band < 0.1, 100 * expm1(t->band));
    else
        fprintf(r->table, " %5.*fx %s", exp(-t->log_ratio.median) < 99.95 ? 2 : 0,
                exp(-t->log_ratio.median), comparison_name(t->verdict));
    if (t->impossible) fprintf(r->table, "\n%*sIMPOSSIBLE: faster than copying", NAME + 3, "");
    if (!w->is_baseline && t->verdict == NOT_RESOLVED && t->rounds_to_go < 10000)
        fprintf(r->table, "\n%*swould need about %zu more round%s", NAME + 3, "", t->rounds_to_go,
                t->rounds_to_go == 1 ? "" : "s");
}

/* The significant digits that fit seven columns. */
static int digits(double v) {
    return v < 1e3 ? 3 : v < 1e4 ? 4 : v < 1e5 ? 5 : 2;
}

/* A name that is too long takes a separate line. A row without times shows a verdict. */
static void write_table(report *r, const row *w) {
    static const char *const paint[] = {"\033[32m", "\033[31m", "\033[33m", "\033[2m"};
    progress_clear();
    if (w->c != r->last || w->timed != r->last_timed) {
        fprintf(r->table, "\n%s\n  %-*s %-6s", w->c->text, NAME, "implementation", "isa");
        fputs(w->timed ? " error,u bound,u    time    +-  GB/s lim.  speed\n"
                       : " verdict  error, u  bound, u\n",
              r->table);
        r->last = w->c, r->last_timed = w->timed;
    }
    fprintf(r->table, "  %-*s", NAME, w->impl);
    if (strlen(w->impl) > NAME) fprintf(r->table, "\n  %*s", NAME, "");
    fprintf(r->table, " %-6s", w->isa);
    if (!w->timed)
        fprintf(r->table, " %s%-7s%s", r->colour ? paint[w->v.outcome] : "",
                outcome_name(w->v.outcome), r->colour ? "\033[0m" : "");
    if (w->v.outcome == OUTCOME_SKIP)
        fprintf(r->table, " %s", w->v.why);
    else if (w->timed)
        fprintf(r->table, " %7.*g %7.*g", digits(w->v.error_u), w->v.error_u, digits(w->v.bound_u),
                w->v.bound_u);
    else
        fprintf(r->table, " %9.4g %9.4g", w->v.error_u, w->v.bound_u);
    if (w->timed) write_table_timing(r, w);
    fputc('\n', r->table);
    fflush(r->table);
}

void report_busy(const report *r) {
    FILE *out = r->table ? r->table : stderr;
    if (r->band > 0.1)
        fprintf(out,
                "the machine is busy: two measurements of a baseline differ by up to %.0f %%; "
                "measure again\n",
                100 * expm1(r->band));
    else if (r->apart > 0.05)
        fprintf(out,
                "other work slowed some rounds: the quotient of two times differs from the speed\n"
                "by up to %.0f %%; the speed compares times within each round\n",
                100 * expm1(r->apart));
}

void report_row(report *r, const row *line) {
    if (line->timed && line->is_baseline && isfinite(line->t.band))
        r->band = fmax(r->band, line->t.band);
    if (line->timed && line->is_baseline) r->base = line->c, r->base_ns = line->t.ns.median;
    if (line->timed && line->c == r->base)
        r->apart =
            fmax(r->apart, fabs(log(r->base_ns / line->t.ns.median) + line->t.log_ratio.median));
    if (r->csv) write_csv(r->csv, line);
    if (r->table) write_table(r, line);
}

void report_repeat(const nl_case *c, const char *impl, const char *isa, int threads) {
    const char *origin = load_origin(impl, isa), *end = origin ? strrchr(origin, '.') : NULL;
    const bool source = end && strcmp(end, ".c") == 0;
    if (source)
        fprintf(stderr, "     repeat: normlab try '%s' '%s'", origin, c->text);
    else
        fprintf(stderr, "     repeat: normlab check '%s' --impl '%s@%s'", c->text, impl, isa);
    if (threads > 1) fprintf(stderr, " --threads %d", threads);
    if (origin && !source)
        fprintf(stderr, " --load '%s'%s", origin, verify_batches ? " --batch" : "");
    fputc('\n', stderr);
}

void report_failure(const row *line, int threads) {
    progress_clear();
    fprintf(stderr, "FAIL %s@%s on %s\n", line->impl, line->isa, line->c->text);
    print_folded(stderr, 5, line->v.why);
    report_repeat(line->c, line->impl, line->isa, threads);
}

bool report_interrupted(const report *r, size_t done, size_t total) {
    if (!interrupted()) return false;
    progress(1, 1, "");
    fprintf(stderr, "interrupted after %zu of %zu cases; %s has only their results\n", done, total,
            r->path ? r->path : "the output");
    return true;
}
