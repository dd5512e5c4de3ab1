/* SPDX-License-Identifier: MIT */
#include "judge/judge.h"
#include "dtype.h"
#include "layer.h"

#include <stdlib.h>

/* Counts the hypotheses about as good as the best, which the data cannot tell apart. */
static size_t count_likely(const judgement *j) {
    size_t count = 0;
    double best = j->found_count ? j->found[0].left.rms : 0;
    while (count < j->found_count && j->found[count].explains &&
           j->found[count].fitted == j->found[0].fitted &&
           j->found[count].left.rms <= 1.25 * best + 0.05)
        count++;
    return count;
}

static bool explain(judgement *j) {
    j->right = j->score.judged > 0 && j->score.beyond == 0;
    if (j->right && j->score.largest <= JUDGE_FEW_UNITS) return true;
    j->explained = true;
    if (!mechanism_test(&j->s, j->found, &j->found_count)) return false;
    j->likely = count_likely(j);
    j->pattern = growth_pattern(&j->s, j->score.group_rest);
    j->growth = growth_fit(j->score.kappa, j->score.group_rms, j->score.groups);
    j->rest = growth_fit(j->score.kappa, j->score.group_rest, j->score.groups);
    j->rounding = growth_mechanism(&j->s, &j->growth, &j->rest, &j->pattern);
    return true;
}

bool judgement_make(judgement *j, const submission *of) {
    const nl_problem *p = &of->p;
    const npy *x = of->x;
    size_t count = x->count, groups = ref_groups(p);
    double *d = calloc(count, 4 * sizeof *d);
    long double *g = calloc(groups, 4 * sizeof *g);
    *j = (judgement){.of = of, .tensors = d, .groups = g};
    if (!d || !g) return judgement_free(j), false;
    j->in = (ref_inputs){.x = d,
                         .residual = of->residual->data ? d + count : NULL,
                         .gamma = of->gamma,
                         .beta = of->beta,
                         .running_mean = of->running_mean,
                         .running_var = of->running_var};
    j->want = (ref_outputs){.xhat = d + 2 * count,
                            .mean = g,
                            .var = g + groups,
                            .rstd = g + 2 * groups,
                            .magnitude = g + 3 * groups};
    j->s =
        (subject){.p = p,
                  .in = &j->in,
                  .want = &j->want,
                  .y = d + 3 * count,
                  .rows_together =
                      !nl_layers[p->op].channels_first && x->rank > 2 ? x->shape[x->rank - 2] : 1,
                  .narrow = p->dtype != NL_F32 ? p->dtype : npy_type_of(x->type)->dtype};
    for (size_t i = 0; i < count; i++) {
        d[i] = npy_value(x, i), d[3 * count + i] = npy_value(of->y, i);
        if (j->in.residual) d[count + i] = npy_value(of->residual, i);
    }
    bool ok = ref_compute(p, &j->in, &j->want, nl_max_threads()) && score_make(&j->s, &j->score) &&
              explain(j);
    if (!ok) judgement_free(j);
    return ok;
}

void judgement_free(judgement *j) {
    free(j->tensors), free(j->groups), free(j->score.kappa);
    *j = (judgement){0};
}

const char *judgement_mechanism(const judgement *j) {
    if (!j->explained) return "nothing to explain";
    if (j->likely) return j->found[0].text;
    return j->rounding ? j->rounding : "no known mechanism explains it";
}
