/* One row, two faces. SPDX-License-Identifier: MIT */
#include "report.h"
#include "machine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool colour_wanted(FILE *out) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(out)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

bool report_open(report *r, const char *csv_path) {
    bool terminal = isatty(STDOUT_FILENO);
    *r = (report){.path = csv_path, .colour = colour_wanted(stdout)};
    if (csv_path || terminal) r->table = stdout;
    r->csv = csv_path ? fopen(csv_path, "w") : terminal ? NULL : stdout;
    if (csv_path && !r->csv) {
        fprintf(stderr, "normlab: cannot write %s: %s\n", csv_path, strerror(errno));
        return false;
    }
    if (csv_path && !machine_write_beside(csv_path)) {
        fprintf(stderr, "normlab: cannot write the machine's facts beside %s\n", csv_path);
        return fclose(r->csv), false;
    }
    if (r->csv)
        fprintf(r->csv, "case,impl,isa,threads,op,pass,dtype,n,c,s,data,options,verdict,error_u,"
                        "bound_u,ns,ns_low,ns_high,ns_min,gbps,limit_gbps,limit_pct,bytes,"
                        "state_bytes,scratch_bytes\n");
    return true;
}

static void csv_text(FILE *out, const char *text) {
    if (!text[strcspn(text, ",\"\n")]) {
        fprintf(out, "%s,", text);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputs("\",", out);
}

/* An unknown number is an empty field. */
static void csv_number(FILE *out, double v, bool known) {
    if (known) fprintf(out, "%.6g", v);
    fputc(',', out);
}

static void write_csv(FILE *out, const row *w) {
    const nl_problem *p = &w->c->problem;
    bool timed = w->ns > 0, judged = w->v.outcome != OUTCOME_SKIP;
    size_t bytes = case_bytes(w->c);
    csv_text(out, w->c->text);
    csv_text(out, w->impl);
    fprintf(out, "%s,%d,%s,%s,%s,%zu,%zu,%zu,", w->isa, w->threads, nl_op_name(p->op),
            nl_pass_name(p->pass), nl_dtype_name(p->dtype), p->n, p->c, p->s);
    csv_text(out, w->c->data);
    csv_text(out, w->c->text + w->c->options);
    fprintf(out, "%s,", outcome_name(w->v.outcome));
    csv_number(out, w->v.error_u, judged);
    csv_number(out, w->v.bound_u, judged);
    csv_number(out, w->ns, timed);
    csv_number(out, w->ns_low, timed);
    csv_number(out, w->ns_high, timed);
    csv_number(out, w->ns_min, timed);
    csv_number(out, (double)bytes / w->ns, timed);
    fprintf(out, ",,%zu,%zu,%zu\n", bytes, case_state_bytes(w->c), w->scratch_bytes);
}

const char *human_ns(double ns, char text[32]) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int u = 0;
    while (ns >= 999.5 && u < 3) ns /= 1000, u++;
    snprintf(text, 32, "%.*f %s", ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0, ns, units[u]);
    return text;
}

static void write_table(report *r, const row *w) {
    static const char *const paint[] = {"\033[32m", "\033[31m", "\033[33m", "\033[2m"};
    char time[32];
    if (isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K"); /* the progress line */
    if (w->c != r->last) {
        fprintf(r->table, "\n%s\n  %-24s %-7s %-7s %10s %10s", w->c->text, "implementation", "isa",
                "verdict", "error, u", "bound, u");
        if (w->ns > 0) fprintf(r->table, " %10s %8s %8s", "time", "GB/s", "speed-up");
        fputc('\n', r->table);
        r->last = w->c;
        r->first_ns = w->ns;
    }
    fprintf(r->table, "  %-24s %-7s %s%-7s%s", w->impl, w->isa,
            r->colour ? paint[w->v.outcome] : "", outcome_name(w->v.outcome),
            r->colour ? "\033[0m" : "");
    if (w->v.outcome == OUTCOME_SKIP) fprintf(r->table, " %s\n", w->v.why);
    if (w->v.outcome == OUTCOME_SKIP) return;
    fprintf(r->table, " %10.4g %10.4g", w->v.error_u, w->v.bound_u);
    if (w->ns > 0)
        fprintf(r->table, " %10s %8.2f %7.2fx", human_ns(w->ns, time),
                (double)case_bytes(w->c) / w->ns, r->first_ns / w->ns);
    fputc('\n', r->table);
    fflush(r->table);
}

void report_row(report *r, const row *line) {
    if (r->csv) write_csv(r->csv, line);
    if (r->table) write_table(r, line);
}

bool report_close(report *r) {
    bool ok = true;
    if (r->csv) {
        ok = fflush(r->csv) == 0 && !ferror(r->csv);
        if (r->path) ok = fclose(r->csv) == 0 && ok;
    }
    if (!ok)
        fprintf(stderr, "normlab: writing the results failed: %s\n", strerror(errno));
    else if (r->path)
        fprintf(stderr, "results: %s\n", r->path);
    return ok;
}

void progress(size_t done, size_t total, const char *what) {
    static double start, shown;
    static bool printed;
    double now = clock_ns();
    if (done == 0 || start == 0) start = shown = now, printed = false;
    bool terminal = isatty(STDERR_FILENO);
    if (done == total) {
        if (printed && terminal) fprintf(stderr, "\r\033[K");
        start = 0;
        return;
    }
    if (now - shown < (terminal ? 1e8 : 1e10)) return;
    shown = now, printed = true;
    double left = done ? (now - start) / (double)done * (double)(total - done) / 1e9 : 0;
    fprintf(stderr, "%s[%zu/%zu] about %.0f s left: %.70s%s", terminal ? "\r\033[K" : "", done,
            total, left, what, terminal ? "" : "\n");
}
