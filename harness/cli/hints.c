/* SPDX-License-Identifier: MIT */
#include "cli/report.h"
#include "judge/hint.h"
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>

/* Keeps the KEPT most instructive failures of an implementation, the best first. */
enum { KEPT = 4 };
/* SLOW: if a cause is known, a case with more elements ends the search. WIDE: with at least this
 * number of features, most mistakes give different numbers. NARROW: with at most this number, many
 * mistakes give equal numbers. */
enum { SLOW = 5000, WIDE = 39, NARROW = 4 };
/* A case with more elements gets no hint: it would take minutes. The suite has such cases only with
 * --long. */
enum { MOST = 1 << 23 };
typedef struct lesson {
    const nl_impl *impl;
    size_t count;
    struct {
        nl_case c;
        int cost, threads;
    } kept[KEPT + 1];
} lesson;

static lesson lessons[FAILURES_MAX];

/* The distance of a case from a small, ordinary case. */
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
    if (w->v.compared == 0) return; /* a call that was refused or did not return needs no hint */
    while (l < lessons + FAILURES_MAX && l->impl && l->impl != impl) l++;
    if (l == lessons + FAILURES_MAX) return;
    l->impl = impl;
    size_t at = l->count;
    const int cost = cost_of(w->c);
    for (; at > 0 && l->kept[at - 1].cost > cost; at--) l->kept[at] = l->kept[at - 1];
    l->kept[at].c = *w->c, l->kept[at].cost = cost, l->kept[at].threads = threads;
    if (l->count < KEPT) l->count++;
}

static bool look_at(const lesson *l, const nl_case *c, int threads, hint *out) {
    nl_data data;
    answer want;
    if (!data_make(c, &data, (char[700]){0}, 700)) return false;
    bool made = answer_make(c, &data, &want);
    if (made) {
        made = hint_make(c, &data, &want, l->impl, threads, out);
        answer_free(&want);
    }
    return data_free(&data), made;
}

typedef struct evidence {
    const nl_case *c;
    hint h;
    bool made;
} evidence;

/* Chooses the case of the hint: the first with a known cause. Drops mistakes that the other cases
 * rule out. If a wider case contradicts the hint, the wider case's hint is right. */
static const evidence *choose(const lesson *l, const nl_case *shown, evidence of[KEPT + 1]) {
    static nl_case wide;
    evidence *best = NULL, *first = NULL, *last = &of[KEPT];
    for (size_t i = 0; i < l->count; i++) {
        const nl_problem *p = &l->kept[i].c.problem;
        evidence *e = &of[i];
        e->c = &l->kept[i].c;
        if (first && p->n * p->c * p->s > (best ? SLOW : 20 * SLOW)) break;
        e->made = look_at(l, e->c, l->kept[i].threads, &e->h);
        if (!e->made) continue;
        if (!first) first = e;
        if (!e->h.known || (e != first && nl_group_size(p) < NARROW)) continue;
        if (!best)
            best = e;
        else
            hint_narrow(&best->h, &e->h);
    }
    const bool open = first && (!best || best->h.m.likely) && l->kept[0].c.problem.c < WIDE;
    if (open && hint_resize(&l->kept[0].c, WIDE, &wide) && nl_accepts(l->impl, &wide.problem) &&
        look_at(l, last->c = &wide, l->kept[0].threads, &last->h) && last->h.known &&
        (!best || !hint_narrow(&best->h, &last->h)))
        return last;
    for (size_t i = 0; best && shown && i < l->count; i++)
        if (of[i].made && strcmp(of[i].c->text, shown->text) == 0 &&
            hint_narrow(&of[i].h, &best->h))
            return &of[i];
    return best ? best : first;
}

/* If no cause is known, prints the hint of the first case. */
static void print(const lesson *l, FILE *to, const nl_case *shown, hints_when when, void *context) {
    char text[1000] = "when: ";
    const nl_problem *p = &l->kept[0].c.problem;
    if (p->n * p->c * p->s > MOST)
        return (void)fprintf(to, "\nHINT none, because %s has more than %d elements\n",
                             l->kept[0].c.text, MOST);
    evidence *of = calloc(KEPT + 1, sizeof *of);
    mechanism_progress = progress;
    progress(0, 1, "looking for the cause");
    const evidence *e = of ? choose(l, shown, of) : NULL;
    progress(1, 1, "");
    if (e) {
        fprintf(to, "\nHINT %s@%s on %s\n", l->impl->name, l->impl->isa, e->c->text);
        if (*e->h.where) print_folded(to, 5, e->h.where), print_folded(to, 5, e->h.number);
        if (when) when(context, l->impl, text + 6, sizeof text - 6);
        if (text[6]) print_folded(to, 5, text);
        snprintf(text, sizeof text, "cause: %s", e->h.cause);
        print_folded(to, 5, text);
    }
    free(of);
}

void hints_print(FILE *to, const nl_case *shown, hints_when when, void *context) {
    for (lesson *l = lessons; l < lessons + FAILURES_MAX && l->impl; l++)
        print(l, to, shown, when, context);
    memset(lessons, 0, sizeof lessons);
}
