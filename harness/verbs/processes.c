/* SPDX-License-Identifier: MIT */
#include "verbs/processes.h"
#include "base/csv.h"
#include "workbench/load.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void rounds_heading(FILE *out) {
    fputs("case,impl,isa,threads,process,round,position,calls,ns\n", out);
}

void rounds_write(FILE *out, const bench_round *r) {
    csv_text(out, r->c->text);
    fprintf(out, "%s,%s,%d,%zu,%zu,%zu,%zu,%.6g\n", r->impl, r->isa, r->threads, r->process,
            r->round, r->position, r->calls, r->ns);
}

const char *process_program = "normlab";

int process_run(char **argv, bool shows) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        if (!shows) dup2(nowhere, STDERR_FILENO);
        execv("/proc/self/exe", argv);
        execvp(process_program, argv); /* where there is no /proc */
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool rounds_read(FILE *f, const bench_round *arms, size_t count, measure *out) {
    char line[2048], head[512], end;
    size_t rows = 0, room = 0, position, calls;
    double ns;
    bool ok = fgets(line, sizeof line, f) != NULL; /* the heading */
    while (ok && fgets(line, sizeof line, f)) {
        const bench_round *arm = &arms[rows % count];
        char *last = line + strlen(line); /* behind the case, which may contain commas */
        for (int commas = 0; last > line && commas < 8; last--) commas += last[-1] == ',';
        int length = snprintf(head, sizeof head, ",%s,%s,%d,0,%zu,", arm->impl, arm->isa,
                              arm->threads, rows / count);
        ok = strncmp(last, head, (size_t)length) == 0 &&
             sscanf(last + length, "%zu,%zu,%lf%c", &position, &calls, &ns, &end) == 4 &&
             end == '\n' && position < count && calls > 0 && isfinite(ns) && ns > 0 &&
             (rows == 0 || calls == out->calls);
        for (size_t i = rows - rows % count; ok && i < rows; i++) ok = out->position[i] != position;
        if (ok && rows == room) {
            room = room ? 2 * room : 256;
            double *more = realloc(out->ns, room * sizeof *more);
            if (more) out->ns = more;
            size_t *where = realloc(out->position, room * sizeof *where);
            if (where) out->position = where;
            ok = more && where;
        }
        if (!ok) break;
        out->ns[rows] = ns, out->position[rows] = position, out->calls = calls;
        rows++;
    }
    out->rounds = rows / count;
    return ok && rows > 0 && rows % count == 0;
}

bool process_measure(const nl_case *c, const case_options *o, const bench_round *arms, size_t count,
                     measure *out, char *error, size_t error_size) {
    char folder[512], csv[600], rounds[600], machine[600], seconds[32], precision[32], threads[32];
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/normlab-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder)) {
        snprintf(error, error_size, "cannot make a folder %s: %s", folder, strerror(errno));
        return false;
    }
    snprintf(csv, sizeof csv, "%s/child.csv", folder);
    snprintf(rounds, sizeof rounds, "%s/child.rounds.csv", folder);
    snprintf(machine, sizeof machine, "%s/child.machine.txt", folder);
    snprintf(seconds, sizeof seconds, "%.9g", o->seconds);
    snprintf(precision, sizeof precision, "%.9g", o->precision);
    snprintf(threads, sizeof threads, "%d", o->threads);
    char *argv[52] = {"normlab", "bench",       (char *)c->text, "--out",     csv,    "--seconds",
                      seconds,   "--precision", precision,       "--threads", threads};
    int n = 11;
    if (o->impl) argv[n++] = "--impl", argv[n++] = (char *)o->impl;
    if (o->baseline) argv[n++] = "--baseline", argv[n++] = (char *)o->baseline;
    for (size_t i = 0; load_file(i); i++) argv[n++] = "--load", argv[n++] = (char *)load_file(i);
    int status = process_run(argv, false);
    FILE *f = status == 0 || status == 130 ? fopen(rounds, "r") : NULL;
    bool ok = f && rounds_read(f, arms, count, out);
    if (!ok)
        snprintf(error, error_size,
                 "a process of --processes wrote no rounds of the same arms (exit status %d)",
                 status);
    if (f) fclose(f);
    unlink(csv), unlink(rounds), unlink(machine), rmdir(folder);
    return ok;
}
