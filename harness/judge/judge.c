/* SPDX-License-Identifier: MIT */
#include "judge/judge.h"
#include "dtype.h"
#include "layer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Does the growth with kappa explain the error of every group? */
static bool on_the_line(const judgement *j) {
    bool all = true;
    for (size_t g = 0; g < j->score.groups && all; g++)
        all = growth_foretells(&j->growth, j->score.kappa[g], j->score.group_rms[g]);
    return all;
}

/* Names rows or features whose errors are as large as their numbers, if all other numbers are
 * right. No mistake in the formula explains such errors. */
static bool name_place(judgement *j) {
    const region *r = &j->wrong;
    char where[256];
    long double error = 0, size = 0;
    if (!r->box || 2 * r->box > r->count || 10 * r->wrong < 9 * r->box) return false;
    for (size_t i = 0; i < r->count; i++) {
        if (!region_has(&j->s, r, i)) continue;
        const long double want = expected_at(&j->expectations, r->output, i).want,
                          d = j->s.got[r->output][i] - want;
        error += d * d, size += want * want;
    }
    region_text(&j->s, r, where, sizeof where);
    const char *at = strchr(where, ',');
    if (!at || !(error >= size / 4) || !isfinite(error)) return false;
    snprintf(j->mechanism, sizeof j->mechanism,
             "wrong%s: not written, or left by another call; no other number is wrong", at);
    return true;
}

/* If each feature of y is off by a factor or a constant of its own, asks whether gamma or beta,
 * which was not given, was left out. NULL: not so, or out of memory. */
static const char *ask_for_parameters(const judgement *j) {
    const subject *s = &j->s;
    const size_t count = s->p->n * s->p->c * s->p->s, c = s->p->c, each = count / c;
    const double *got = s->got[NL_Y];
    if (!got || each < 4 || (s->in->gamma && s->in->beta)) return NULL;
    struct sums {
        double w, g, ww, wg, gg;
    } *sums = calloc(c, sizeof *sums), *f;
    double error = 0, left[3] = {0}; /* after fitting a constant, a factor, both */
    for (size_t i = 0; sums && i < count; i++) {
        const size_t k = nl_feature_of(s->p, i);
        const double beta = s->in->beta ? s->in->beta[k] : 0,
                     w = (double)expected_at(&j->expectations, NL_Y, i).want - beta,
                     g = got[i] - beta;
        f = &sums[k];
        f->w += w, f->g += g, f->ww += w * w, f->wg += w * g, f->gg += g * g;
        error += (g - w) * (g - w);
    }
    for (f = sums; sums && f < sums + c; f++) {
        const double n = (double)each, off = f->g - f->w, both = f->wg - f->w * f->g / n;
        left[0] += f->gg - 2 * f->wg + f->ww - off * off / n;
        left[1] += f->gg - f->wg * f->wg / f->ww;
        left[2] += f->gg - f->g * f->g / n - both * both / (f->ww - f->w * f->w / n);
    }
    free(sums);
    const double enough = 1e-4 * error;
    return !isfinite(error) || error == 0 ? NULL
           : !s->in->beta && left[0] <= enough
               ? "each feature has a constant of its own: was beta left out?"
           : !s->in->gamma && left[1] <= enough
               ? "each feature has a factor of its own: was gamma left out?"
           : !s->in->beta && !s->in->gamma && left[2] <= enough
               ? "each feature has a factor and a constant of its own: were gamma and beta left "
                 "out?"
               : NULL;
}

/* Chooses a formula, or rounding if no formula explains nearly all wrong numbers. */
static void name_mechanism(judgement *j) {
    mechanism *m = &j->formulas;
    const hypothesis *h = m->found;
    const bool local = strcmp(m->prefix, ONLY_THERE) == 0 && j->rounding && on_the_line(j),
               wholly = m->likely && h->wholly && !local,
               mostly = m->likely && !h->fitted && 5 * h->left.hits >= 4 * j->score.beyond;
    j->partly = m->likely && !wholly && !local && (mostly || !j->rounding);
    if (local) m->prefix = "";
    j->named = false;
    if (!wholly && !local && name_place(j))
        j->partly = false, m->likely = 0;
    else if ((j->named = wholly || j->partly))
        mechanism_text(m, j->mechanism, sizeof j->mechanism);
    else {
        const char *asks = j->rounding ? j->rounding : ask_for_parameters(j);
        text_append(j->mechanism, sizeof j->mechanism, "%s",
                    asks                                    ? asks
                    : j->score.not_finite == j->score.count ? "every element is NaN or infinite"
                                                            : "no known mechanism explains it");
    }
}

static bool explain(judgement *j) {
    j->right = j->score.of[subject_tensor(&j->s)].judged > 0 && j->score.beyond == 0;
    if (j->score.beyond == 0 && j->score.largest <= MECHANISM_FEW_UNITS) {
        text_append(j->mechanism, sizeof j->mechanism, "nothing to explain");
        return true;
    }
    j->explained = true;
    if (!region_make(&j->s, subject_tensor(&j->s), &j->wrong) ||
        !mechanism_find(&j->s, &j->wrong, &j->formulas))
        return false;
    if (j->s.got[NL_Y]) {
        j->pattern = growth_pattern(&j->s, j->score.group_rest);
        j->growth = growth_fit(j->score.kappa, j->score.group_rms, j->score.groups);
        j->rest = growth_fit(j->score.kappa, j->score.group_rest, j->score.groups);
        j->rounding = growth_mechanism(&j->s, &j->growth, &j->rest, &j->pattern);
        if (!j->rounding)
            j->rounding =
                growth_at_one_kappa(&j->s, j->score.kappa, j->score.group_rms, &j->pattern);
    }
    return name_mechanism(j), true;
}

/* Copies the inputs of the reference, the outputs to judge and, for the bounds, dy in the type of
 * the problem. */
static bool copy_arrays(judgement *j) {
    const nl_problem *p = &j->of->p;
    double *next = j->got;
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        const npy *from = j->of->array[a];
        if (!from) continue;
        double *to = j->exact.input[a];
        if (!to) j->s.got[a] = to = next, next += from->count;
        for (size_t i = 0; i < from->count; i++) to[i] = npy_value(from, i);
    }
    for (nl_arg a = NL_DGAMMA; a <= NL_DBETA; a++) {
        if (!j->of->vector[a]) continue;
        for (size_t i = 0; i < p->c; i++) next[i] = j->of->vector[a][i];
        j->s.got[a] = next, next += p->c;
    }
    for (nl_arg a = NL_GAMMA; a <= NL_RUNNING_VAR; a++) j->data.input[a] = (void *)j->of->vector[a];
    j->exact.in.gamma = j->data.gamma = j->data.input[NL_GAMMA];
    j->exact.in.beta = j->data.beta = j->data.input[NL_BETA];
    j->exact.in.running_mean = j->data.input[NL_RUNNING_MEAN];
    j->exact.in.running_var = j->data.input[NL_RUNNING_VAR];
    const double *dy = j->exact.in.dy;
    if (!dy) return true;
    const size_t count = p->n * p->c * p->s;
    void *stored = j->data.input[NL_DY] = malloc(count * nl_dtype_size(p->dtype) + 1);
    for (size_t i = 0; stored && i < count; i++) nl_store(p->dtype, stored, i, (float)dy[i]);
    return stored != NULL;
}

/* Sets s->rows[k] to the number of rows in the last k + 1 axes of x before the axis of features. */
static void set_axes(subject *s, const npy *x) {
    size_t together = 1;
    if (nl_layers[s->p->op].channels_first) return;
    for (size_t k = 0; k + 2 < x->rank && k + 1 < SUBJECT_AXES; k++)
        s->rows[k] = together *= x->shape[x->rank - 2 - k];
}

bool judgement_make(judgement *j, const submission *of) {
    const nl_problem *p = &of->p;
    const npy *x = of->array[NL_X];
    const bool residual = of->array[NL_RESIDUAL];
    *j = (judgement){.of = of, .got = malloc((2 * x->count + 2 * p->c + 1) * sizeof *j->got)};
    if (!j->got || !answer_room(p, residual, of->array[NL_GATE], false, &j->exact))
        return judgement_free(j), false;
    j->as_case = (nl_case){.problem = *p, .residual = residual};
    j->as_instance = (instance){.c = &j->as_case, .data = &j->data}; /* impl is NULL: the bound is
                                                                        a two-pass kernel's with
                                                                        one accumulator */
    j->s = subject_of(p, &j->exact, &j->expectations);
    if (p->dtype == NL_F32) j->s.narrow = npy_type_of(x->type)->dtype;
    set_axes(&j->s, x);
    bool ok = copy_arrays(j) && ref_compute(p, &j->exact.in, &j->exact.want, nl_max_threads()) &&
              expectations_make(&j->as_instance, &j->exact.want, &j->expectations);
    memcpy(j->expectations.stored, of->type, sizeof of->type);
    ok = ok && score_make(&j->s, &j->score) && explain(j);
    if (!ok) judgement_free(j);
    return ok;
}

void judgement_free(judgement *j) {
    free(j->got), free(j->score.kappa), free(j->data.input[NL_DY]);
    answer_free(&j->exact), expectations_free(&j->expectations), region_free(&j->wrong);
    *j = (judgement){0};
}

/* Counts an element of y or dx whose error is e. */
static void add_element(const subject *s, score *c, size_t *finite, size_t i, double e,
                        const expected_value *d) {
    const size_t g = nl_group_of(s->p, i);
    const double got = s->got[subject_tensor(s)][i];
    const long double best = ref_round(d->dtype, d->want);
    c->exact += ref_round(d->dtype, got) == best || (isnan(got) && isnan(best));
    if (isfinite(e))
        c->rms += e * e, c->group_rms[g] += e * e, finite[g]++;
    else
        c->not_finite++;
}

bool score_make(const subject *s, score *c) {
    const nl_arg tensor = subject_tensor(s);
    size_t groups = c->groups = ref_groups(s->p), *finite = calloc(groups, sizeof *finite);
    bool *beyond = calloc(groups, 2 * sizeof *beyond);
    c->kappa = calloc(groups, 3 * sizeof *c->kappa);
    if (!finite || !beyond || !c->kappa) return free(finite), free(beyond), false;
    bool *unjudged = beyond + groups;
    c->group_rms = c->kappa + groups, c->group_rest = c->group_rms + groups;
    c->count = s->p->n * s->p->c * s->p->s;
    for (size_t g = 0; g < groups; g++) c->kappa[g] = s->expectations->allowed[g].kappa;
    int level = -1; /* rank of the worst number: 2 wrong, 1 within its bound, 0 not judged */
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        c->of[o].count = s->got[o] ? expected_count(s->p, o) : 0;
        for (size_t i = 0; i < c->of[o].count; i++) {
            const expected_value d = expected_at(s->expectations, o, i);
            const double e = error_units(d.dtype, s->got[o][i], d.low, d.high, d.scale);
            const bool impossible = subject_impossible(s, o, i, &d);
            const int its_level = impossible                ? 2
                                  : !d.promised             ? 0
                                  : e <= d.allowed.probable ? 1
                                                            : 2;
            c->of[o].judged += its_level > 0, c->impossible += impossible;
            c->largest = fmax(c->largest, e), c->of[o].largest = fmax(c->of[o].largest, e);
            if (its_level == 2) c->beyond++, c->of[o].beyond++;
            if (its_level == 2 && (impossible || e > d.allowed.certain)) c->certain++;
            if (nl_args[o].extent == NL_TENSOR && its_level != 1)
                (its_level ? beyond : unjudged)[nl_group_of(s->p, i)] = true;
            if (o == tensor) add_element(s, c, finite, i, e, &d);
            if (its_level < level || (its_level == level && e <= c->its_error)) continue;
            level = its_level, c->worst_of = o, c->worst = i;
            c->its_error = e, c->its_bound = d.allowed.probable;
        }
        c->judged += c->of[o].judged, c->unjudged += c->of[o].count - c->of[o].judged;
    }
    for (size_t g = 0; g < groups; g++) {
        c->groups_beyond += beyond[g], c->groups_judged += !unjudged[g];
        c->group_rms[g] = finite[g] ? sqrt(c->group_rms[g] / (double)finite[g]) : INFINITY;
    }
    const size_t numbers = c->count - c->not_finite;
    c->rms = numbers ? sqrt(c->rms / (double)numbers) : INFINITY;
    return free(finite), free(beyond), true;
}
