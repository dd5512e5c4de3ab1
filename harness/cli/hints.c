/* SPDX-License-Identifier: MIT */
#include "cli/hints.h"
#include "cases/kinds.h"
#include "judge/hint.h"
#include "cli/report.h"

#include <string.h>

/* The failures of an implementation that teach most, the best first. */
enum { KEPT = 4, SLOW = 100000 }; /* elements: above, one is enough */
typedef struct lesson {
    const nl_impl *impl;
    size_t count;
    struct {
        nl_case c;
        int cost, threads;
    } kept[KEPT + 1];
} lesson;

static lesson lessons[FAILURES_MAX];

/* How far a case is from a small, ordinary one. */
static int cost_of(const nl_case *c) {
    const nl_problem *p = &c->problem;
    const size_t count = p->n * p->c * p->s;
    int cost = p->pass == NL_BACKWARD ? 2 : p->pass == NL_INFERENCE ? 1 : 0;
    if (strcmp(c->data, "normal") != 0) cost += case_is_random(c) ? 500 : 1000;
    cost += p->dtype == NL_F32 ? 0 : 400;
    cost += c->text[c->options] ? 200 : 0;
    cost += p->n < 2 ? 300 : p->n < 3 ? 20 : 0;
    cost += p->c < 2 ? 300 : p->c < 8 ? 150 : p->c < 16 ? 10 : 0;
    return cost + (count > 1000000 ? 600 : count > 100000 ? 100 : count > 5000 ? 30 : 0);
}

void hints_note(const nl_impl *impl, const row *w, int threads) {
    lesson *l = lessons;
    if (w->v.compared == 0) return; /* refused, or did not return: the failure needs no hint */
    while (l < lessons + FAILURES_MAX && l->impl && l->impl != impl) l++;
    if (l == lessons + FAILURES_MAX) return;
    l->impl = impl;
    size_t at = l->count;
    const int cost = cost_of(w->c);
    for (; at > 0 && l->kept[at - 1].cost > cost; at--) l->kept[at] = l->kept[at - 1];
    l->kept[at].c = *w->c, l->kept[at].cost = cost, l->kept[at].threads = threads;
    if (l->count < KEPT) l->count++;
}

/* Looks at the remembered failures until one has a known cause; otherwise prints the first one's
 * hint. */
static void print(const lesson *l, FILE *to, hints_when when, void *context) {
    char text[400] = "";
    hint best = {0};
    size_t its = 0;
    bool have = false;
    for (size_t i = 0; i < l->count && !best.known; i++) {
        const nl_case *c = &l->kept[i].c;
        nl_data data;
        answer want;
        hint now;
        const size_t count = c->problem.n * c->problem.c * c->problem.s;
        if (i > 0 && count > SLOW) break;
        if (!data_make(c, &data, (char[700]){0}, 700)) continue;
        const bool made = answer_make(c, &data, &want);
        if (made && hint_make(c, &data, &want, l->impl, l->kept[i].threads, &now) &&
            (!have || now.known))
            best = now, its = i, have = true;
        if (made) answer_free(&want);
        data_free(&data);
    }
    if (!have) return;
    fprintf(to, "\nHINT %s@%s on %s\n", l->impl->name, l->impl->isa, l->kept[its].c.text);
    if (*best.where) fprintf(to, "     %s\n     %s\n", best.where, best.number);
    if (when) when(context, l->impl, text, sizeof text);
    if (*text) fprintf(to, "     when: %s\n", text);
    fprintf(to, "     cause: %s\n", best.cause);
}

void hints_print(FILE *to, hints_when when, void *context) {
    for (lesson *l = lessons; l < lessons + FAILURES_MAX && l->impl; l++)
        print(l, to, when, context);
    memset(lessons, 0, sizeof lessons);
}
