/* SPDX-License-Identifier: MIT */
#include "judge/mechanism.h"
#include "layer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*mechanism_progress)(size_t done, size_t total, const char *what);

/* Does each element of the output depend on its own row only? */
static bool is_local(const formula *f) {
    return (f->axis == GROUPS || f->axis == FEATURES || f->axis == PARTS) && !f->stale &&
           !f->carried && !(f->shifted & OF_ROWS) && (f->permuted & ~OF_GAMMA) == 0;
}

/* In long outputs, selects the rows with most wrong numbers; they rule out most mistakes. */
static bool screen(workspace *w) {
    enum { LONG = 1 << 16, SHORT = 1 << 14 };
    const size_t row = w->s->p->c, each = (SHORT / row > 2 ? SHORT / row : 2) * row;
    const double *was = w->of[subject_tensor(w->s)].was;
    size_t most = 0;
    if (nl_layers[w->s->p->op].by_channel || w->count <= LONG || w->count <= each || !was)
        return false;
    for (size_t next = 0; next < w->count; next += each) {
        const size_t at = next + each < w->count ? next : w->count - each;
        size_t wrong = 0;
        for (size_t i = at; i < at + each; i++) wrong += was[i] > MECHANISM_FEW_UNITS;
        if (wrong <= most) continue;
        most = wrong, w->from = at, w->to = at + each;
    }
    return most > 0;
}

/* Is an output other than y or dx wrong? */
static bool others_wrong(const workspace *w) {
    for (nl_arg o = 0; o < NL_ARGS; o++)
        for (size_t i = 0; o != subject_tensor(w->s) && i < w->of[o].count; i++)
            if (w->of[o].was[i] > MECHANISM_FEW_UNITS) return true;
    return false;
}

static void compare(workspace *w, const mistake *m, hypothesis *h) {
    formula_evaluate(w, &m->formula);
    h->left = formula_residual(w, false);
    h->removes = h->left.was > 0 ? 1 - h->left.rms / h->left.was : 0;
}

/* truth: the mismatch of the right formula. room: number of numbers that may still be computed.
 * False: the mistake needs more. */
static bool evaluate(workspace *w, const mistake *m, hypothesis *h, const mismatch *truth,
                     bool screened, size_t *room) {
    enum { KEPT = 8 }; /* comparisons on all numbers, reserved for mistakes that fit a sample */
    const bool local = is_local(&m->formula);
    *h = (hypothesis){.fitted = m->fitted};
    memcpy(h->name, m->name, sizeof h->name), memcpy(h->text, m->text, sizeof h->text);
    if (screened && local) {
        compare(w, m, h);
        const bool same = h->left.rms == h->left.was;
        if (same && !others_wrong(w)) return h->left = *truth, true;
        if (!same && h->removes < 0.3 && 4 * h->left.hits < w->to - w->from) return true;
    }
    if (*room / w->count < (screened && !local ? KEPT + 1 : 1)) return false;
    *room -= w->count;
    const size_t from = w->from, to = w->to;
    w->from = 0, w->to = w->count;
    compare(w, m, h);
    w->from = from, w->to = to;
    const bool enough = h->removes >= MECHANISM_ENOUGH ||
                        (h->removes >= 0.5 && h->left.rms <= MECHANISM_EQUAL),
               half = !m->fitted && h->left.hits >= 8 && 4 * h->left.hits >= 3 * truth->beyond &&
                      2 * h->left.beyond <= truth->beyond;
    h->explains = (enough || half) && h->left.not_finite <= truth->not_finite &&
                  (h->left.finite || !w->s->only);
    const bool few = h->left.largest <= MECHANISM_FEW_UNITS && h->left.rms <= 1;
    h->wholly = h->explains && enough && (h->left.beyond == 0 || few);
    return true;
}

static int better(const void *a, const void *b) {
    const hypothesis *x = a, *y = b;
    if (x->wholly != y->wholly) return y->wholly - x->wholly;
    if (x->explains != y->explains) return y->explains - x->explains;
    if (x->explains && x->fitted != y->fitted) return x->fitted - y->fitted;
    if (x->left.rms != y->left.rms) return x->left.rms < y->left.rms ? -1 : 1;
    return x->order - y->order;
}

static int simpler(const void *a, const void *b) {
    return ((const hypothesis *)a)->order - ((const hypothesis *)b)->order;
}

/* Counts the first hypotheses that are about as good as the best one. */
static size_t count_likely(const hypothesis *found, size_t count) {
    size_t likely = 0;
    while (likely < count && found[likely].explains && found[likely].fitted == found[0].fitted &&
           found[likely].wholly == found[0].wholly &&
           found[likely].left.rms <= 1.25 * found[0].left.rms + 0.05)
        likely++;
    return likely;
}

static bool test(const subject *s, mechanism *out) {
    workspace w;
    mistake *all = malloc(MISTAKES_MAX * sizeof *all);
    if (!all || !workspace_open(&w, s)) return free(all), false;
    formula right = formula_right(s);
    formula_evaluate(&w, &right);
    const mismatch truth = formula_residual(&w, true);
    const size_t tried = mistakes_list(s, &w, all);
    const bool screened = screen(&w);
    bool wholly = false;
    double cast = -1; /* the rms error left by a cast at the other place */
    size_t room = s->most ? s->most : SIZE_MAX;
    out->count = out->untried = 0;
    for (size_t i = 0; i < tried; i++) {
        hypothesis *h = &out->found[out->count];
        const bool pair = strncmp(all[i].name, "cast+", 5) == 0;
        if (pair && wholly) break; /* a single mistake explains the error */
        if (mechanism_progress) mechanism_progress(i, tried, "known mistakes");
        if (!evaluate(&w, &all[i], h, &truth, screened, &room)) {
            out->untried++;
            continue;
        }
        h->order = (int)i;
        /* Leaves out mistakes without effect on these data: for example, gamma was ignored, but is
         * all ones. */
        out->count += (h->left.rms != truth.rms || h->left.largest != truth.largest) &&
                      !(pair && h->left.rms == cast);
        wholly |= h->wholly;
        if (strncmp(h->name, "cast-", 5) == 0) cast = h->left.rms;
    }
    free(all), workspace_close(&w);
    qsort(out->found, out->count, sizeof *out->found, better);
    out->likely = count_likely(out->found, out->count);
    qsort(out->found, out->likely, sizeof *out->found, simpler);
    out->prefix = "";
    hypothesis *h = out->found;
    if (out->count && !out->likely && !h->fitted && h->removes >= MECHANISM_PARTLY && w.count >= 64)
        h->explains = true, out->likely = 1;
    return true;
}

/* Replaces *out if a mistake explains the subject wholly, and not only its NaN. */
static bool retry(const subject *s, const char *prefix, mechanism *out) {
    mechanism *now = malloc(sizeof *now);
    const bool made = now && test(s, now);
    if (made && now->likely && now->found[0].wholly && now->found[0].left.finite)
        *out = *now, out->prefix = prefix;
    return free(now), made;
}

static bool is_explained(const mechanism *m) {
    return m->likely && m->found[0].wholly;
}

bool mechanism_find(const subject *s, const region *wrong, mechanism *out) {
    bool made = test(s, out);
    if (!made || !wrong || is_explained(out)) return made;
    subject part = *s;
    part.only = wrong;
    if (wrong->box >= 8 && wrong->box < wrong->count && 2 * wrong->wrong >= wrong->box)
        made = retry(&part, ONLY_THERE, out);
    part.only = NULL;
    bool others = false; /* with one output only, this test would repeat the first */
    for (nl_arg o = 0; o < NL_ARGS; o++)
        if (o != wrong->output) others |= part.got[o] != NULL, part.got[o] = NULL;
    if (made && !is_explained(out) && wrong->wrong && others)
        made = retry(&part, "in this output: ", out);
    return made;
}

void mechanism_text(const mechanism *m, char *text, size_t size) {
    enum { NAMED = 3 };
    for (size_t i = 0; i < m->likely && i < NAMED; i++) {
        text_append(text, size, "%s%s",
                    i               ? ", or "
                    : m->likely > 1 ? "either "
                                    : "",
                    m->found[i].text);
    }
    if (m->likely > NAMED) text_append(text, size, ", or others");
    if (m->likely > 1) text_append(text, size, " (these data cannot tell)");
}
