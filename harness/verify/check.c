/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"
#include "base/interrupt.h"
#include "registry.h"
#include "verify/isolate.h"
#include "verify/worker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

static verdict check_impl(const nl_case *c, const nl_data *data, const answer *want,
                          const nl_impl *m, const check_settings *o) {
    verdict v = {.outcome = OUTCOME_SKIP};
    if (!nl_isa_runs(m->isa)) {
        snprintf(v.why, sizeof v.why, "this processor has no %s", m->isa);
        return v;
    }
    for (placement at = PLACE_END; at <= PLACE_START; at++) {
        v = verify(c, data, want, m, at, o->threads);
        if (o->noted && !o->noted(o->context, c, m, &v)) return failure("out of %s", "memory");
        if (v.outcome == OUTCOME_FAIL) break;
    }
    return v;
}

bool check_case(const nl_case *c, const check_settings *o, char *error, size_t error_size) {
    nl_data data;
    answer want;
    bool wanted = false;
    for (size_t i = 0; !wanted && i < nl_impl_count(); i++)
        wanted = o->selects(o->context, nl_impl_at(i), c);
    if (!wanted) return true;
    if (!data_make(c, &data, error, error_size)) return false;
    if (!answer_make(c, &data, &want)) {
        snprintf(error, error_size, "no memory for the reference of %s", c->text);
        return data_free(&data), false;
    }
    expected_make_plain(c, &data, &want);
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        if (interrupted() || !o->selects(o->context, m, c)) continue;
        verdict v = check_impl(c, &data, &want, m, o);
        o->judged(o->context, c, m, &v);
    }
    answer_free(&want);
    data_free(&data);
    return true;
}

/* A message of a checker. */
typedef struct sentence {
    enum { NOTED, JUDGED, ENDED, BROKEN } is;
    size_t impl; /* its index in the table */
    verdict v;   /* if BROKEN, only v.why */
} sentence;

/* Messages are read in the order of the cases. While the reader waits for another checker, each
 * checker goes on until its pipe is full. 1 MiB is the most that Linux allows every user. */
enum { LINE_BYTES = 1 << 20 };

static FILE *to; /* the checker's end of the pipe */

static void say(const sentence *s) {
    if (fwrite(s, sizeof *s, 1, to) != 1) worker_leave(1); /* the reader has ended */
}

static void say_judged(void *context, const nl_case *c, const nl_impl *m, const verdict *v) {
    (void)context, (void)c;
    say(&(sentence){JUDGED, impl_index(m), *v});
}

static bool say_noted(void *context, const nl_case *c, const nl_impl *m, const verdict *v) {
    (void)context, (void)c;
    return say(&(sentence){NOTED, impl_index(m), *v}), true;
}

enum { NOBODY = CHECKERS_MAX };

/* A case's estimated cost, in units of comparing one number; 0: nothing is compared. */
static double cost_of(const nl_case *c, const check_settings *o) {
    enum { CALLS = 500, MAKING = 2 }; /* costs: of a call, in numbers; of the data, in rungs */
    const nl_problem *p = &c->problem;
    size_t impls = 0;
    for (size_t i = 0; i < nl_impl_count(); i++) impls += o->selects(o->context, nl_impl_at(i), c);
    const double numbers = (double)(p->n * p->c * p->s), bytes = (double)nl_arg_bytes(p, NL_X);
    return impls ? (double)(impls + MAKING) * (numbers + bytes / 16 + CALLS) : 0;
}

/* Gives each case to the checker with the least work so far. NULL: out of memory. */
static unsigned char *assign(const nl_case *cases, size_t count, int checkers,
                             check_settings (*settings)(void *context, const nl_case *c),
                             void *context) {
    double work[CHECKERS_MAX] = {0};
    unsigned char *owner = malloc(count);
    for (size_t i = 0; owner && i < count; i++) {
        const check_settings o = settings(context, &cases[i]);
        const double cost = cost_of(&cases[i], &o);
        int least = 0;
        for (int k = 1; k < checkers; k++)
            if (work[k] < work[least]) least = k;
        work[least] += cost;
        owner[i] = (unsigned char)(cost > 0 ? least : NOBODY);
    }
    return owner;
}

static int processors(void) {
    int count = (int)sysconf(_SC_NPROCESSORS_ONLN);
#ifdef __linux__
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) == 0) count = CPU_COUNT(&mine);
#endif
    return count < CHECKERS_MAX ? count : CHECKERS_MAX;
}

void checkers_start(checkers *j, const nl_case *cases, size_t count,
                    check_settings (*settings)(void *context, const nl_case *c), void *context) {
    const int most = processors();
    int line[2];
    *j = (checkers){0};
    if (most > 1) j->owner = assign(cases, count, most, settings, context);
    fflush(NULL); /* otherwise each child would write the buffered text, too */
    while (j->owner && j->count < most && pipe(line) == 0) {
        const int k = j->count;
#ifdef F_SETPIPE_SZ
        fcntl(line[1], F_SETPIPE_SZ, LINE_BYTES); /* if this fails, the pipe keeps its size */
#endif
        const pid_t pid = fork();
        if (pid != 0) {
            close(line[1]);
            FILE *from = pid > 0 ? fdopen(line[0], "r") : NULL;
            if (!from) break; /* without a reader, checker k ends at its first message */
            j->pid[k] = pid, j->from[k] = from, j->count++;
            continue;
        }
        for (int i = 0; i < k; i++) fclose(j->from[i]);
        close(line[0]);
        signal(SIGPIPE, SIG_IGN);
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
#ifdef _OPENMP
        omp_set_num_threads(1); /* for the reference: other checkers use the other processors */
#endif
        to = fdopen(line[1], "w");
        for (size_t i = 0; to && i < count && !interrupted(); i++) {
            if (j->owner[i] != k) continue;
            check_settings o = settings(context, &cases[i]);
            o.judged = say_judged, o.noted = o.noted ? say_noted : NULL;
            sentence last = {.is = ENDED};
            if (!check_case(&cases[i], &o, last.v.why, sizeof last.v.why)) last.is = BROKEN;
            say(&last);
        }
        if (to) fclose(to);
        isolate_end();
        worker_leave(0);
    }
    if (j->owner && j->count == most) return;
    checkers_end(j); /* the cases of missing checkers would not be verified */
}

bool checkers_next(checkers *j, size_t i, const nl_case *c, const check_settings *o, char *error,
                   size_t error_size) {
    if (!j->count) return check_case(c, o, error, error_size);
    if (j->owner[i] == NOBODY) return true;
    sentence s;
    while (fread(&s, sizeof s, 1, j->from[j->owner[i]]) == 1) {
        const nl_impl *m = nl_impl_at(s.impl);
        switch (s.is) {
        case NOTED:
            if (o->noted(o->context, c, m, &s.v)) break;
            return snprintf(error, error_size, "out of memory"), false;
        case JUDGED: o->judged(o->context, c, m, &s.v); break;
        case ENDED: return true;
        case BROKEN: return snprintf(error, error_size, "%s", s.v.why), false;
        }
    }
    if (interrupted()) return true;
    snprintf(error, error_size, "the process that verifies %s has ended: out of memory?", c->text);
    return false;
}

void checkers_end(checkers *j) {
    for (int k = 0; k < j->count; k++) fclose(j->from[k]);
    for (int k = 0; k < j->count; k++) waitpid(j->pid[k], NULL, 0);
    free(j->owner);
    *j = (checkers){0};
}
