/* SPDX-License-Identifier: MIT */
#include "base/interrupt.h"
#include "registry.h"
#include "timing/bench.h"
#include "verbs/case_options.h"
#include "verbs/marking.h"
#include "verbs/options.h"
#include "verify/cell.h"

#include <math.h>
#include <string.h>

static bool races(void *context, const nl_impl *impl, const nl_case *c) {
    const grading *j = context;
    return impl == j->impl ||
           ((impl == impl_widest(j->part->from_rung) || impl == impl_widest(j->part->to_rung)) &&
            nl_accepts(impl, &c->problem));
}

static void timed(void *context, const row *line) {
    grading *j = context;
    if (strcmp(line->impl, j->impl->name) == 0 && strcmp(line->isa, j->impl->isa) == 0)
        j->mine = *line; /* whose name may be that of a rung of another instruction set */
    else if (strcmp(line->impl, j->part->from_rung) == 0)
        j->from = *line;
    else
        j->to = *line;
}

/* Two measurements of one kernel differ by a few percent: by one step at the border of two, else by
 * none. A time that is the same as that of a step, within the margin, has reached it. */
static int steps_reached(double mine, double from, double to, int steps) {
    const bool scale = to < from; /* else the machine knows no difference: all or nothing */
    const double least = mine / 1.02;
    return scale ? (int)(grade_share(least, from, to) * steps + 1e-9) : least <= from ? steps : 0;
}

/* Measures, and again where the baseline differs from itself. False: error says why. */
static bool measure_speed(grading *j, const part *p, const bench_settings *settings, char *error,
                          size_t size) {
    enum { TIMES = 3 };
    const double calm = 0.05;
    row best[3] = {{.timed = false}};
    for (int i = 0; i < TIMES && !interrupted(); i++) {
        cell_alive();
        j->mine = j->from = j->to = (row){0};
        if (!bench_case(p->cases.items, settings, error, size)) return false;
        const bool better = i == 0 || !j->mine.timed || j->mine.t.band < best[0].t.band;
        if (better) best[0] = j->mine, best[1] = j->from, best[2] = j->to;
        if (!j->mine.timed || j->mine.t.band < calm) break;
    }
    j->mine = best[0], j->from = best[1], j->to = best[2];
    return true;
}

bool grade_speed(grading *j, const part *p, mark *k) {
    const nl_case *c = p->cases.items;
    const bench_settings settings = {.seconds = j->seconds,
                                     .precision = 0.01,
                                     .margin = 0.02,
                                     .processes = 1,
                                     .threads = j->threads,
                                     .distrusted = true,
                                     .context = j,
                                     .selects = races,
                                     .row = timed};
    char error[700];
    const bool limit = strcmp(p->to_rung, "limit") == 0;
    if (j->seconds == 0)
        return snprintf(k->text, sizeof k->text, "%s\nnot timed: --seconds 0", c->text), true;
    j->part = p;
    if (!measure_speed(j, p, &settings, error, sizeof error))
        return options_fail("%s: %s", c->text, error);
    const double from = j->from.t.ns.median, mine = j->mine.t.ns.median;
    const double to = limit ? (double)case_bytes(c) / j->mine.t.limit_gbps : j->to.t.ns.median;
    if (j->mine.timed && !(j->from.timed && to > 0))
        return interrupted() || options_fail("%s: %s and %s cannot be timed on it", c->text,
                                             p->from_rung, p->to_rung);
    k->right = j->mine.timed ? !j->mine.t.impossible : j->mine.v.outcome == OUTCOME_SKIP;
    if (!j->mine.timed) {
        snprintf(
            k->text, sizeof k->text, "%s\n%s%s", c->text, j->mine.v.why,
            j->mine.v.outcome == OUTCOME_FAIL
                ? "\nright when it was checked, and wrong in calls one after the other, each on "
                  "other data: does it keep an answer, or leave work out?"
                : "");
    } else if (j->mine.t.impossible) {
        snprintf(
            k->text, sizeof k->text,
            "%s\nfaster than the same bytes can be copied: does a repeated call leave work out?",
            c->text);
    } else {
        const bool useless = j->mine.t.band >= log(1.25);
        const int steps = useless ? 0 : steps_reached(mine, from, to, p->steps);
        char busy[120] = "";
        k->points = p->points * steps / p->steps;
        if (j->mine.t.band >= 0.05)
            snprintf(busy, sizeof busy,
                     "\nthe machine is busy: %s differs from itself by %.0f %%%s; grade again",
                     j->mine.t.baseline, 100 * expm1(j->mine.t.band),
                     useless ? ", too much for points" : "");
        snprintf(k->text, sizeof k->text,
                 "%s\n%.2f times as fast as %s; %s%s%s is at %.2f\nstep %d of %d%s", c->text,
                 from / mine, p->from_rung, p->to_rung, limit ? "" : "@",
                 limit ? "" : impl_widest(p->to_rung)->isa, from / to, steps, p->steps, busy);
    }
    return true;
}
