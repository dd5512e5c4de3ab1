/* SPDX-License-Identifier: MIT */
#include "judge/mechanism.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*mechanism_progress)(size_t done, size_t total, const char *what);

/* truth: the mismatch of the right formula. */
static void evaluate(workspace *w, const mistake *m, hypothesis *h, const mismatch *truth) {
    *h = (hypothesis){.fitted = m->fitted};
    memcpy(h->name, m->name, sizeof h->name), memcpy(h->text, m->text, sizeof h->text);
    formula_evaluate(w, &m->formula);
    h->left = formula_residual(w, false);
    h->removes = h->left.was > 0 ? 1 - h->left.rms / h->left.was : 0;
    const bool enough = h->removes >= MECHANISM_ENOUGH ||
                        (h->removes >= 0.5 && h->left.rms <= MECHANISM_EQUAL),
               half = !m->fitted && h->left.hits >= 8 && 4 * h->left.hits >= 3 * truth->beyond &&
                      2 * h->left.beyond <= truth->beyond;
    h->explains = (enough || half) && h->left.not_finite <= truth->not_finite;
    const bool few = h->left.largest <= MECHANISM_FEW_UNITS && h->left.rms <= 1;
    h->wholly = h->explains && enough && (h->left.beyond == 0 || few);
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

/* How many of the first are about as good as the best. */
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
    out->count = 0;
    for (size_t i = 0; i < tried; i++) {
        hypothesis *h = &out->found[out->count];
        if (mechanism_progress) mechanism_progress(i, tried, "known mistakes");
        evaluate(&w, &all[i], h, &truth);
        h->order = (int)i;
        /* Leaves out a mistake without effect, as with a gamma of ones or a beta of zeros. */
        out->count += h->left.rms != truth.rms || h->left.largest != truth.largest;
    }
    workspace_close(&w), free(all);
    qsort(out->found, out->count, sizeof *out->found, better);
    out->likely = count_likely(out->found, out->count);
    qsort(out->found, out->likely, sizeof *out->found, simpler);
    out->prefix = "";
    return true;
}

/* Replaces *out if the subject is explained wholly, and not only its NaN. */
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
    for (nl_arg o = 0; o < NL_ARGS; o++)
        if (o != wrong->output) part.got[o] = NULL;
    if (made && !is_explained(out) && wrong->wrong) made = retry(&part, "in this output: ", out);
    return made;
}

void mechanism_text(const mechanism *m, char *text, size_t size) {
    enum { NAMED = 3 };
    *text = '\0';
    for (size_t i = 0; i < m->likely && i < NAMED; i++) {
        text_append(text, size, i ? ", or " : m->likely > 1 ? "either " : "");
        text_append(text, size, m->found[i].text);
    }
    if (m->likely > NAMED) text_append(text, size, ", or others");
    if (m->likely > 1) text_append(text, size, " (these data cannot tell)");
}
