/* Tables: a row is a mistake, one field of the formula with another value.
 * SPDX-License-Identifier: MIT */
#include "judge/mistakes.h"
#include "layer.h"

#include <stddef.h>
#include <string.h>

enum { FWD = NL_BIT(NL_FORWARD), BWD = NL_BIT(NL_BACKWARD), INF = NL_BIT(NL_INFERENCE) };
/* HALVES: y is 16 bits; NARROW: x or y is; RMS: and there is no mean; PLACES: more than one;
 * GROUPS_BEFORE: for most groups there is one, MEANS_BEFORE: and they have means; GRADIENTS: dgamma
 * and dbeta were given; AFFINE: gamma and beta were; GAIN: gamma was; CENTRED: there is a mean. */
enum {
    ANY,
    WIDE,
    HALVES,
    NARROW,
    RMS,
    PLACES,
    GROUPS_BEFORE,
    MEANS_BEFORE,
    GRADIENTS,
    AFFINE,
    GAIN,
    CENTRED
};

#define AT(field) offsetof(formula, field)

static const struct row {
    const char *name, *text;
    size_t at; /* an int */
    int value;
    unsigned passes;
    int when;
} rows[] = {
    {"eps-outside", "eps outside the root: 1 / (sqrt(var) + eps)", AT(root), OUTSIDE,
     FWD | INF | BWD, ANY},
    {"root-missing", "divided by the variance, not by its root", AT(root), NO_ROOT, FWD | INF, ANY},
    {"times-sigma", "multiplied by sigma, not divided by it", AT(root), TIMES_SIGMA,
     FWD | INF | BWD, ANY},
    {"unbiased", "unbiased variance: n - 1 for n", AT(unbiased), 1, FWD | BWD, ANY},
    {"gain-plus-one", "a gain of 1 + gamma for gamma", AT(gain), ONE_PLUS, FWD | INF | BWD, ANY},
    {"gain-plain", "a gain of gamma for 1 + gamma", AT(gain), GAMMA, FWD | INF | BWD, ANY},
    {"gamma-missing", "gamma was not applied", AT(gain), NO_GAIN, FWD | INF | BWD, ANY},
    {"gamma-twice", "gamma was applied twice", AT(gained), TWICE, FWD | INF | BWD, GAIN},
    {"negated", "the sign: -xhat for xhat, as of mean - x", AT(gained), NEGATED, FWD | INF, ANY},
    {"dx-negated", "the sign: -dx for dx", AT(gained), NEGATED, BWD, ANY},
    {"gamma-shifted", "gamma shifted by one: gamma[j + 1] for gamma[j]", AT(shifted), OF_GAMMA,
     FWD | INF | BWD, ANY},
    {"gamma-shifted-back", "gamma shifted by one: gamma[j - 1] for gamma[j]", AT(shifted),
     OF_GAMMA | BACK, FWD | INF | BWD, ANY},
    {"beta-shifted", "beta shifted by one: beta[j + 1] for beta[j]", AT(shifted), OF_BETA,
     FWD | INF, ANY},
    {"beta-shifted-back", "beta shifted by one: beta[j - 1] for beta[j]", AT(shifted),
     OF_BETA | BACK, FWD | INF, ANY},
    {"affine-shifted", "gamma and beta shifted by one: [j + 1] for [j]", AT(shifted),
     OF_GAMMA | OF_BETA, FWD | INF, AFFINE},
    {"affine-shifted-back", "gamma and beta shifted by one: [j - 1] for [j]", AT(shifted),
     OF_GAMMA | OF_BETA | BACK, FWD | INF, AFFINE},
    {"x-shifted", "features shifted by one: x[j + 1] for x[j]", AT(shifted), OF_X, FWD | INF, ANY},
    {"x-shifted-back", "features shifted by one: x[j - 1] for x[j]", AT(shifted), OF_X | BACK,
     FWD | INF, ANY},
    {"y-shifted", "features shifted by one: y[j + 1] in y[j]", AT(shifted),
     OF_X | OF_GAMMA | OF_BETA, FWD | INF, ANY},
    {"y-shifted-back", "features shifted by one: y[j - 1] in y[j]", AT(shifted),
     OF_X | OF_GAMMA | OF_BETA | BACK, FWD | INF, ANY},
    {"beta-missing", "beta was not added", AT(beta), BETA_IGNORED, FWD | INF, ANY},
    {"beta-first", "beta was added before the gain: (xhat + beta) * gamma", AT(beta), BETA_FIRST,
     FWD | INF, ANY},
    {"cast-last", "cast last, not before the weight", AT(casting), NL_CAST_LAST, FWD | INF, HALVES},
    {"cast-before-weight", "cast before the weight, not last", AT(casting), NL_CAST_BEFORE_WEIGHT,
     FWD | INF, HALVES},
    {"residual-ignored", "the residual was not added", AT(residual), IGNORED, FWD, ANY},
    {"residual-rounded", "x + residual was rounded before it was normalized", AT(residual), ROUNDED,
     FWD, NARROW},
    {"residual-not-in-sums", "the residual was left out of the statistics", AT(residual),
     NOT_IN_SUMS, FWD, ANY},
    {"residual-last", "the residual was added to y, not to x", AT(residual), LAST, FWD, ANY},
    {"residual-out-x", "residual_out is x, without the residual", AT(x_as_sum), 1, FWD, ANY},
    {"dresidual-ignored", "dresidual was not added", AT(residual), IGNORED, BWD, ANY},
    {"dresidual-late", "dx was rounded before dresidual was added", AT(residual), ROUNDED, BWD,
     HALVES},
    {"mean-kept", "the mean was not subtracted: RMSNorm", AT(centred), NOWHERE, FWD, ANY},
    {"mean-subtracted", "the mean was subtracted: LayerNorm", AT(centred), EVERYWHERE, FWD | BWD,
     ANY},
    {"mean-kept-in-squares", "the mean was not subtracted in the variance: E[x^2]", AT(centred),
     IN_OUTPUT, FWD, ANY},
    {"mean-kept-in-output", "the mean was subtracted in the variance only", AT(centred), IN_SQUARES,
     FWD, ANY},
    {"squares-about-first", "the variance about x[0]: (mean - x[0])^2 was not subtracted",
     AT(centred), ABOUT_FIRST, FWD, CENTRED},
    {"mean-sum", "the sum for the mean: not divided by n", AT(undivided), OF_MEAN, FWD, ANY},
    {"squares-sum", "the sum of squares for the variance: not divided by n", AT(undivided),
     OF_SQUARES, FWD, ANY},
    {"both-sums", "sums for mean and variance: not divided by n", AT(undivided),
     OF_MEAN | OF_SQUARES, FWD, ANY},
    {"stale", "stale statistics: mean and rstd of the group before", AT(stale),
     OF_MEAN | OF_SQUARES, FWD | INF | BWD, MEANS_BEFORE},
    {"stale-mean", "stale mean: that of the group before", AT(stale), OF_MEAN, FWD | INF | BWD,
     MEANS_BEFORE},
    {"stale-rstd", "stale rstd: that of the group before", AT(stale), OF_SQUARES, FWD | INF | BWD,
     GROUPS_BEFORE},
    {"first-statistics", "every group took mean and rstd of the first", AT(stale),
     OF_MEAN | OF_SQUARES | OF_FIRST, FWD | INF | BWD, GROUPS_BEFORE},
    {"carried-sums", "the sums went on from group to group: not set to 0 before each", AT(carried),
     SUMS, FWD | BWD, GROUPS_BEFORE},
    {"carried-means", "a sum began with the mean of the group before: not set to 0", AT(carried),
     MEANS, FWD | BWD, GROUPS_BEFORE},
    {"saved-mean-unshifted", "the mean was saved without its shift: that of x - x[0]",
     AT(mean_unshifted), 1, FWD, ANY},
    {"saved-sigma", "sigma was saved as rstd", AT(saved), SIGMA, FWD, ANY},
    {"saved-variance", "the variance was saved as rstd", AT(saved), VARIANCE, FWD, ANY},
    {"statistics-swapped", "mean and rstd are swapped", AT(saved), EXCHANGED, FWD, CENTRED},
    {"momentum-swapped", "momentum the other way: it weighs the old statistic", AT(running),
     SWAPPED, FWD, ANY},
    {"running-bias", "running_var took the other variance: n - 1 for n, or n for n - 1",
     AT(running), OTHER_BIAS, FWD, ANY},
    {"running-old", "the running statistics were not updated", AT(running), OLD, FWD, ANY},
    {"stats-all", "statistics over all elements", AT(axis), EVERYTHING, FWD | BWD, ANY},
    {"stats-rows", "statistics per sample, over its channels: LayerNorm", AT(axis), FEATURES,
     FWD | BWD, ANY},
    {"stats-columns", "statistics per feature, over the rows: BatchNorm", AT(axis), CHANNELS,
     FWD | BWD, ANY},
    {"stats-instance", "statistics per sample and channel: InstanceNorm", AT(axis), INSTANCES,
     FWD | BWD, PLACES},
    {"stats-position", "statistics per channel and place, over the samples", AT(axis), POSITIONS,
     FWD | BWD, PLACES},
    {"stats-batch", "statistics of the batch, not the running ones: training", AT(inference), 0,
     INF, ANY},
    {"low-sums", "sums and squares in 16 bits, one after another", AT(sums_in_16_bits), 1, FWD,
     NARROW},
    {"rstd-rounded", "rstd was rounded to 16 bits", AT(rstd_rounded), 1, FWD, RMS},
    {"truncated", "y was rounded towards zero, not to nearest", AT(truncated), 1, FWD | INF,
     HALVES},
    {"stored-f16", "y was rounded to f16, then widened", AT(rounded), NL_F16 + 1, FWD | INF, WIDE},
    {"stored-bf16", "y was rounded to bf16, then widened", AT(rounded), NL_BF16 + 1, FWD | INF,
     WIDE},
    {"not-normalized", "gamma and beta on x itself, not normalized", AT(not_normalized), 1,
     FWD | INF, ANY},
    {"mean-g-missing", "the term mean(g) was left out", AT(mean_g), NO_TERM, BWD, ANY},
    {"mean-g-extra", "a term mean(g), which only LayerNorm has", AT(mean_g), TERM, BWD, ANY},
    {"mean-gx-missing", "the term xhat * mean(g * xhat) was left out", AT(mean_gx), NO_TERM, BWD,
     ANY},
    {"mean-gx-plain", "mean(g * xhat) was not multiplied by xhat", AT(mean_gx), TERM_WITHOUT_XHAT,
     BWD, ANY},
    {"g-sum", "the sum for mean(g): not divided by n", AT(undivided), OF_G, BWD, ANY},
    {"gx-sum", "the sum for mean(g * xhat): not divided by n", AT(undivided), OF_GX, BWD, ANY},
    {"both-g-sums", "sums for mean(g) and mean(g * xhat): not divided by n", AT(undivided),
     OF_G | OF_GX, BWD, ANY},
    {"gamma-outside", "gamma outside the bracket: gamma * rstd * (dy - mean(dy) - ...)",
     AT(gain_in), OUT_OF_BRACKET, BWD, ANY},
    {"gamma-not-in-means", "gamma was left out of mean(g) and mean(g * xhat)", AT(gain_in),
     NOT_IN_MEANS, BWD, ANY},
    {"rstd-missing", "dx was not multiplied by rstd", AT(no_rstd), 1, BWD, ANY},
    {"dx-of-x", "x for xhat in dx", AT(dx_of), RAW_X, BWD, ANY},
    {"dx-of-centred", "x - mean for xhat in dx: not multiplied by rstd", AT(dx_of), CENTRED_X, BWD,
     ANY},
    {"dgamma-of-x", "dgamma sums dy * x, not dy * xhat", AT(dgamma_of), RAW_X, BWD, ANY},
    {"dgamma-of-centred", "dgamma sums dy * (x - mean), not multiplied by rstd", AT(dgamma_of),
     CENTRED_X, BWD, ANY},
    {"dgamma-gained", "dgamma sums gamma * dy * xhat, not dy * xhat", AT(gradients_gained),
     OF_GAMMA, BWD, ANY},
    {"dbeta-gained", "dbeta sums gamma * dy, not dy", AT(gradients_gained), OF_BETA, BWD, ANY},
    {"gradients-gained", "dgamma and dbeta sum gamma * dy, not dy", AT(gradients_gained),
     OF_GAMMA | OF_BETA, BWD, GRADIENTS},
    {"gradients-averaged", "dgamma or dbeta: a mean over the rows, not their sum",
     AT(gradients_averaged), 1, BWD, ANY},
    {"gradients-swapped", "dgamma and dbeta are swapped", AT(gradients_swapped), 1, BWD, GRADIENTS},
    {"gradients-shifted", "dgamma and dbeta shifted by one: [j + 1] in [j]", AT(shifted),
     OF_GRADIENTS, BWD, ANY},
    {"gradients-shifted-back", "dgamma and dbeta shifted by one: [j - 1] in [j]", AT(shifted),
     OF_GRADIENTS | BACK, BWD, ANY},
};

static bool concerns(const struct row *r, const mistake_list *l) {
    const subject *s = l->s;
    int now;
    memcpy(&now, (const char *)&l->right + r->at, sizeof now);
    const bool meant[] = {[ANY] = true,
                          [WIDE] = s->p->dtype == NL_F32,
                          [HALVES] = s->p->dtype != NL_F32,
                          [NARROW] = s->narrow != NL_F32,
                          [RMS] = s->narrow != NL_F32 && !l->right.centred,
                          [PLACES] = s->p->s > 1,
                          [GROUPS_BEFORE] = nl_group_count(s->p) > 2,
                          [GRADIENTS] = s->got[NL_DGAMMA] && s->got[NL_DBETA],
                          [AFFINE] = s->in->gamma && s->in->beta,
                          [GAIN] = s->in->gamma,
                          [CENTRED] = l->right.centred,
                          [MEANS_BEFORE] = nl_group_count(s->p) > 2 && l->right.centred};
    const int own = nl_layers[s->p->op].by_channel ? CHANNELS : FEATURES;
    if (r->at == AT(axis) && r->value == own) return false;
    return (r->passes & NL_BIT(s->p->pass)) && meant[r->when] && now != r->value;
}

size_t mistakes_list(const subject *s, workspace *w, mistake out[MISTAKES_MAX]) {
    mistake_list l = {s, formula_right(s), out, 0};
    for (const struct row *r = rows; r < rows + sizeof rows / sizeof *rows; r++)
        if (concerns(r, &l))
            memcpy((char *)mistake_add(&l, r->name, 0, "%s", r->text) + r->at, &r->value,
                   sizeof r->value);
    families_add(&l, w);
    return l.count;
}
