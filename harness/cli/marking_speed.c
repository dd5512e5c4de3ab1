/* SPDX-License-Identifier: MIT */
#include "base/interrupt.h"
#include "registry.h"
#include "timing/contest.h"
#include "cli/counting.h"
#include "cli/marking.h"
#include "cli/options.h"

#include <math.h>
#include <string.h>

/* Our rung of this name, on the widest ISA here. A loaded kernel may have the same name. */
static const nl_impl *rung_for(const char *name, const nl_problem *p) {
    const nl_impl *widest = NULL;
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        if (nl_is_own(m) && strcmp(m->name, name) == 0 && nl_isa_runs(m->isa) && nl_accepts(m, p))
            widest = m;
    }
    return widest;
}

/* Two measurements of one kernel differ by a few per cent, so a time within 2 % of a step reaches
 * the step. */
int grade_steps(double mine, double from, double to, int steps) {
    const bool scale = to < from; /* false: `to` is not faster here, so all steps or none */
    const double least = mine / 1.02;
    return scale ? (int)(grade_share(least, from, to) * steps + 1e-9) : least <= from ? steps : 0;
}

/* Measures, and repeats if the baseline differs from itself; uses the calmest measurement. */
static bool measure_speed(contest *k, char *error, size_t size) {
    enum { TIMES = 3 };
    const double calm = 0.05;
    contest best = *k;
    for (int i = 0; i < TIMES && !interrupted(); i++) {
        if (!contest_run(k, error, size)) return false;
        const bool wrong = k->v.outcome == OUTCOME_FAIL;
        if (i == 0 || wrong || k->t[MINE].band < best.t[MINE].band) best = *k;
        if (wrong || k->t[MINE].band < calm) break;
    }
    return *k = best, true;
}

static void describe_speed(const contest *k, const part *p, double share, int steps, bool useless,
                           mark *out) {
    const timing *mine = &k->t[MINE];
    char busy[120] = "";
    if (mine->band >= 0.05)
        snprintf(busy, sizeof busy,
                 "\nthe machine is busy: two times of %s differ by %.0f %%%s; grade again",
                 mine->baseline, 100 * expm1(mine->band), useless ? ", too much for points" : "");
    snprintf(out->text, sizeof out->text,
             "%s\n%.2f times as fast as %s; %s%s%s is at %.2f\nstep %d of %d%s", k->c->text,
             k->t[FROM].ns.median / mine->ns.median, p->from_rung, p->to_rung,
             k->impl[TO] ? "@" : "", k->impl[TO] ? k->impl[TO]->isa : "", share, steps, p->steps,
             busy);
}

bool grade_speed(grading *j, const part *p, mark *k) {
    const nl_case *c = p->cases.items;
    const bool limit = strcmp(p->to_rung, "limit") == 0;
    contest all = {.c = c,
                   .impl = {j->impl, rung_for(p->from_rung, &c->problem),
                            limit ? NULL : rung_for(p->to_rung, &c->problem)},
                   .threads = c->threads ? c->threads : j->threads,
                   .seconds = j->seconds,
                   .seed = (uint64_t)j->seed,
                   .interrupted = interrupted};
    char error[700];
    if (j->seconds == 0)
        return snprintf(k->text, sizeof k->text, "%s\nnot timed: --seconds 0", c->text), true;
    if (all.threads > nl_max_threads())
        return snprintf(k->text, sizeof k->text,
                        "%s\nnot timed: %d threads, but this machine runs %d", c->text, all.threads,
                        nl_max_threads()),
               true;
    if (!measure_speed(&all, error, sizeof error)) return options_fail("%s: %s", c->text, error);
    const timing *mine = &all.t[MINE];
    const double from = all.t[FROM].ns.median;
    const double to = limit ? (double)case_bytes(c) / mine->limit_gbps : all.t[TO].ns.median;
    k->right = all.v.outcome != OUTCOME_FAIL && !mine->impossible;
    if (interrupted() && !mine->rounds) return true;
    if (all.v.outcome == OUTCOME_FAIL) {
        snprintf(k->text, sizeof k->text,
                 "%s\n%s\nright when it was checked, but wrong in repeated calls, each on other "
                 "data: does the kernel keep a result, or skip work?",
                 c->text, all.v.why);
        return true;
    }
    if (mine->impossible) {
        snprintf(k->text, sizeof k->text,
                 "%s\nfaster than the same bytes can be copied: does the kernel skip work?",
                 c->text);
        return true;
    }
    const bool useless = mine->band >= log(1.25);
    const int steps = useless ? 0 : grade_steps(mine->ns.median, from, to, p->steps);
    k->points = p->points * steps / p->steps;
    describe_speed(&all, p, from / to, steps, useless, k);
    return true;
}

bool grade_count(grading *j, const part *p) {
    const nl_case *c = p->cases.items;
    mark *k = &j->out->all[j->out->count];
    counted mine, from, to;
    char error[700];
    if (!j->counted || !counting_works())
        return grade_nothing(j, p,
                             j->counted ? "not counted: valgrind is not installed"
                                        : "not counted: this needs a .c file"),
               k->right = true;
    grade_nothing(j, p, "");
    if (!counting_run(j->counted, j->impl->name, j->counted_isa, c, &mine, error, sizeof error) ||
        !counting_rung(p->from_rung, c, &from, error, sizeof error) ||
        !counting_rung(p->to_rung, c, &to, error, sizeof error))
        return snprintf(k->text, sizeof k->text, "%s", error), true;
    const double cost = counted_cost(mine), first = counted_cost(from), last = counted_cost(to);
    const int steps = grade_steps(cost, first, last, p->steps);
    k->right = true;
    k->points = p->points * steps / p->steps;
    snprintf(k->text, sizeof k->text,
             "%s\n%.0f instructions, %.0f misses of the first cache, %.0f of the last: %.2f times "
             "as cheap as %s; %s is %.2f times as cheap\nstep %d of %d",
             c->text, mine.instructions, mine.first, mine.last, first / cost, p->from_rung,
             p->to_rung, first / last, steps, p->steps);
    return true;
}
