/* SPDX-License-Identifier: MIT */
#include "judge/mechanism.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* truth: the mismatch of the right formula. */
static void evaluate(workspace *w, const mistake *m, hypothesis *h, const mismatch *truth) {
    *h = (hypothesis){.fitted = m->fitted};
    memcpy(h->name, m->name, sizeof h->name), memcpy(h->text, m->text, sizeof h->text);
    formula_evaluate(w, &m->formula);
    h->left = formula_residual(w, false);
    h->removes = h->left.was > 0 ? 1 - h->left.rms / h->left.was : 0;
    const bool enough =
        h->removes >= MECHANISM_ENOUGH || (h->removes >= 0.5 && h->left.rms <= MECHANISM_EQUAL);
    h->explains = enough && h->left.not_finite <= truth->not_finite;
    const bool few = h->left.largest <= MECHANISM_FEW_UNITS && h->left.rms <= 1;
    h->wholly = h->explains && (h->left.beyond == 0 || few);
}

static int better(const void *a, const void *b) {
    const hypothesis *x = a, *y = b;
    if (x->wholly != y->wholly) return y->wholly - x->wholly;
    if (x->explains != y->explains) return y->explains - x->explains;
    if (x->explains && x->fitted != y->fitted) return x->fitted - y->fitted;
    return (x->left.rms > y->left.rms) - (x->left.rms < y->left.rms);
}

bool mechanism_test(const subject *s, hypothesis out[HYPOTHESES_MAX], size_t *found) {
    workspace w;
    size_t count = 0;
    mistake *all = malloc(MISTAKES_MAX * sizeof *all);
    if (!all || !workspace_open(&w, s)) return free(all), false;
    formula right = formula_right(s);
    formula_evaluate(&w, &right);
    const mismatch truth = formula_residual(&w, true);
    const size_t tried = mistakes_list(s, &w, all);
    for (size_t i = 0; i < tried; i++) {
        hypothesis *h = &out[count];
        evaluate(&w, &all[i], h, &truth);
        /* Leaves out a mistake without effect, as with a gamma of ones or a beta of zeros. */
        count += h->left.rms != truth.rms || h->left.largest != truth.largest;
    }
    workspace_close(&w), free(all);
    qsort(out, count, sizeof *out, better);
    *found = count;
    return true;
}

size_t mechanism_likely(const hypothesis *found, size_t count) {
    size_t likely = 0;
    while (likely < count && found[likely].explains && found[likely].fitted == found[0].fitted &&
           found[likely].wholly == found[0].wholly &&
           found[likely].left.rms <= 1.25 * found[0].left.rms + 0.05)
        likely++;
    return likely;
}
