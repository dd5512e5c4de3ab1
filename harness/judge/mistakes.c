/* Tables: a row is a mistake, one field of the formula with another value. Of two that give the
 * same numbers the earlier row is named first, so simpler ones come earlier.
 * SPDX-License-Identifier: MIT */
#include "judge/mistakes.h"
#include "layer.h"

#include <stddef.h>
#include <string.h>

enum { F = NL_BIT(NL_FORWARD), B = NL_BIT(NL_BACKWARD), I = NL_BIT(NL_INFERENCE), ALL = F | B | I };

/* A condition for a mistake to be possible, besides its passes. */
enum {
    ANY,
    HALVES,        /* y or dx has 16 bits */
    PLACES,        /* a group is a channel with several places */
    GROUPS_BEFORE, /* most groups have one before them, */
    MEANS_BEFORE,  /* and it has a mean */
    GRADIENTS,     /* dgamma and dbeta were given */
    DGAMMA,        /* dgamma was */
    ROWS,          /* there are two */
    RUNNING,       /* running statistics were given */
    GAIN,          /* gamma was */
    AFFINE,        /* gamma and beta were */
    RESIDUAL,      /* the residual, or dresidual, was */
    CENTRED        /* there is a mean */
};

#define AT(field) offsetof(formula, field)

static const struct row {
    const char *name;
    unsigned passes;
    int when;
    size_t at; /* an int */
    int value;
    const char *text;
} rows[] = {
    {"copied", F | I, ANY, AT(output), COPIED, "y is x: nothing was computed, or not stored"},
    {"dx-copied", B, ANY, AT(output), COPIED, "dx is dy: nothing was computed, or not stored"},
    {"flushed", ALL, ANY, AT(range), FLUSHED,
     "numbers too small for a normal one became 0: flushed to zero"},
    {"x-flushed", ALL, ANY, AT(range), X_FLUSHED, "subnormal x were taken as 0"},
    {"saturated", ALL, HALVES, AT(range), SATURATED,
     "what overflows became the largest number, not infinite"},
    {"not-normalized", F | I, ANY, AT(output), NOT_NORMALIZED,
     "gamma and beta on x itself, not normalized"},
    {"rstd-alone", F | I, ANY, AT(output), RSTD_ALONE, "y is rstd: x was not multiplied by it"},
    {"no-brackets", F | I, CENTRED, AT(output), NO_BRACKETS,
     "x - mean * rstd for (x - mean) * rstd: brackets are missing"},
    {"gamma-missing", ALL, ANY, AT(gain), NO_GAIN, "gamma was not applied"},
    {"beta-missing", F | I, ANY, AT(beta), BETA_IGNORED, "beta was not added"},
    {"residual-ignored", F, ANY, AT(residual), IGNORED, "the residual was not added"},
    {"dresidual-ignored", B, ANY, AT(residual), IGNORED, "dresidual was not added"},
    {"residual-twice", F, RESIDUAL, AT(residual), TWICE_SUMMED, "the residual was added twice"},
    {"dresidual-twice", B, RESIDUAL, AT(residual), TWICE_SUMMED, "dresidual was added twice"},
    {"residual-subtracted", F, RESIDUAL, AT(residual), SUBTRACTED,
     "the sign: the residual was subtracted"},
    {"dresidual-subtracted", B, RESIDUAL, AT(residual), SUBTRACTED,
     "the sign: dresidual was subtracted"},
    {"dresidual-in-dy", B, RESIDUAL, AT(residual), IN_DY, "dresidual was added to dy, not to dx"},
    {"residual-not-in-sums", F, ANY, AT(residual), NOT_IN_SUMS,
     "the residual was left out of the statistics"},
    {"residual-last", F, ANY, AT(residual), LAST, "the residual was added to y, not to x"},
    {"residual-also-last", F, RESIDUAL, AT(residual), ALSO_LAST,
     "the residual was added to x, and to y again"},
    {"residual-out-x", F, ANY, AT(x_as_sum), 1, "residual_out is x, without the residual"},
    {"dresidual-late", B, HALVES, AT(residual), EARLY_ROUNDED,
     "dx was rounded before dresidual was added"},
    {"eps-outside", ALL, ANY, AT(root), OUTSIDE, "eps outside the root: 1 / (sqrt(var) + eps)"},
    {"root-missing", F | I, ANY, AT(rstd_power), 2, "divided by the variance, not by its root"},
    {"rstd-missing-in-y", F | I, ANY, AT(rstd_power), 0, "not divided by sigma: rstd is missing"},
    {"times-sigma", ALL, ANY, AT(root), TIMES_SIGMA, "multiplied by sigma, not divided by it"},
    {"unbiased", F | B, ANY, AT(unbiased), 1, "unbiased variance: n - 1 for n"},
    {"gain-plus-one", ALL, ANY, AT(gain), ONE_PLUS, "a gain of 1 + gamma for gamma"},
    {"gain-plain", ALL, ANY, AT(gain), GAMMA, "a gain of gamma for 1 + gamma"},
    {"gamma-twice", ALL, GAIN, AT(gained), TWICE, "gamma was applied twice"},
    {"affine-swapped", F | I, AFFINE, AT(affine_swapped), 1, "gamma and beta are swapped"},
    {"negated", F | I, ANY, AT(gained), NEGATED, "the sign: -xhat for xhat, as of mean - x"},
    {"dx-negated", B, ANY, AT(gained), NEGATED, "the sign: -dx for dx"},
    {"gamma-shifted", ALL, ANY, AT(shifted), OF_GAMMA,
     "gamma shifted by one: gamma[j + 1] for gamma[j]"},
    {"gamma-shifted-back", ALL, ANY, AT(shifted), OF_GAMMA | BACK,
     "gamma shifted by one: gamma[j - 1] for gamma[j]"},
    {"beta-shifted", F | I, ANY, AT(shifted), OF_BETA,
     "beta shifted by one: beta[j + 1] for beta[j]"},
    {"beta-shifted-back", F | I, ANY, AT(shifted), OF_BETA | BACK,
     "beta shifted by one: beta[j - 1] for beta[j]"},
    {"affine-shifted", F | I, AFFINE, AT(shifted), OF_GAMMA | OF_BETA,
     "gamma and beta shifted by one: [j + 1] for [j]"},
    {"affine-shifted-back", F | I, AFFINE, AT(shifted), OF_GAMMA | OF_BETA | BACK,
     "gamma and beta shifted by one: [j - 1] for [j]"},
    {"gamma-reversed", ALL, GAIN, AT(shifted), OF_GAMMA | REVERSED,
     "gamma reversed: gamma[c - 1 - j] for gamma[j]"},
    {"affine-reversed", F | I, AFFINE, AT(shifted), OF_GAMMA | OF_BETA | REVERSED,
     "gamma and beta reversed: [c - 1 - j] for [j]"},
    {"x-shifted", F | I, ANY, AT(shifted), OF_X, "features shifted by one: x[j + 1] for x[j]"},
    {"x-shifted-back", F | I, ANY, AT(shifted), OF_X | BACK,
     "features shifted by one: x[j - 1] for x[j]"},
    {"y-shifted", F | I, ANY, AT(shifted), OF_X | OF_GAMMA | OF_BETA,
     "features shifted by one: y[j + 1] in y[j]"},
    {"y-shifted-back", F | I, ANY, AT(shifted), OF_X | OF_GAMMA | OF_BETA | BACK,
     "features shifted by one: y[j - 1] in y[j]"},
    {"rows-shifted", F | I, ROWS, AT(shifted), OF_ROWS, "rows shifted by one: y[i + 1] in y[i]"},
    {"rows-shifted-back", F | I, ROWS, AT(shifted), OF_ROWS | BACK,
     "rows shifted by one: y[i - 1] in y[i]"},
    {"beta-first", F | I, ANY, AT(beta), BETA_FIRST,
     "beta was added before the gain: (xhat + beta) * gamma"},
    {"cast-last", F | I, HALVES, AT(casting), NL_CAST_LAST, "cast last, not before the weight"},
    {"cast-before-weight", F | I, HALVES, AT(casting), NL_CAST_BEFORE_WEIGHT,
     "cast before the weight, not last"},
    {"mean-kept", F, ANY, AT(centred), NOWHERE, "the mean was not subtracted: RMSNorm"},
    {"mean-kept-in-dx", B, ANY, AT(centred), NOWHERE, "the mean was not subtracted from x"},
    {"mean-subtracted", F | B, ANY, AT(centred), EVERYWHERE, "the mean was subtracted: LayerNorm"},
    {"mean-added", F, CENTRED, AT(centred), ADDED, "the sign: x + mean for x - mean"},
    {"mean-kept-in-squares", F, ANY, AT(centred), IN_OUTPUT,
     "the mean was not subtracted in the variance: E[x^2]"},
    {"mean-kept-in-output", F, ANY, AT(centred), IN_SQUARES,
     "the mean was subtracted in the variance only"},
    {"squares-about-first", F, CENTRED, AT(centred), ABOUT_FIRST,
     "the variance about x[0]: (mean - x[0])^2 was not subtracted"},
    {"first-in-output", F, CENTRED, AT(centred), FIRST_ALONE,
     "y is made of x - x[0]: the mean of x - x[0] was not subtracted"},
    {"rest-in-output", F, CENTRED, AT(centred), REST_ALONE,
     "y is made of x - c, c the mean of x - x[0]: x[0] was not subtracted"},
    {"not-squared", F, ANY, AT(variance), OF_PLAIN,
     "the variance, or mean square, is a mean of numbers that were not squared"},
    {"squared-late", F, ANY, AT(variance), SQUARED_LATE,
     "the square of the sum, not the sum of the squares"},
    {"mean-square-added", F, CENTRED, AT(variance), MEAN_ADDED,
     "the sign: E[x^2] + mean^2 for E[x^2] - mean^2"},
    {"mean-not-squared", F, CENTRED, AT(variance), MEAN_TAKEN,
     "E[x^2] - mean for E[x^2] - mean^2: it was not squared"},
    {"rest-not-shifted", F, CENTRED, AT(variance), REST_TAKEN,
     "E[x^2] - c^2, c the mean of x - x[0]: the squares were not of x - x[0]"},
    {"delta-squared", F, CENTRED, AT(variance), DELTA_SQUARED,
     "Welford's squares: d * d was added, not d * (x - m)"},
    {"mean-is-first", F, CENTRED, AT(mean_is_first), 1,
     "the mean is x[0]: in Welford's d / (i + 1), a division of integers?"},
    {"mean-sum", F, ANY, AT(undivided), OF_MEAN, "the sum for the mean: not divided by n"},
    {"squares-sum", F, ANY, AT(undivided), OF_SQUARES,
     "the sum of squares for the variance: not divided by n"},
    {"both-sums", F, ANY, AT(undivided), OF_MEAN | OF_SQUARES,
     "sums for mean and variance: not divided by n"},
    {"stale", ALL, MEANS_BEFORE, AT(stale), OF_MEAN | OF_SQUARES,
     "stale statistics: mean and rstd of the group before"},
    {"stale-mean", ALL, MEANS_BEFORE, AT(stale), OF_MEAN, "stale mean: that of the group before"},
    {"stale-rstd", ALL, GROUPS_BEFORE, AT(stale), OF_SQUARES,
     "stale rstd: that of the group before"},
    {"first-statistics", ALL, GROUPS_BEFORE, AT(stale), OF_MEAN | OF_SQUARES | OF_FIRST,
     "every group took mean and rstd of the first"},
    {"carried-sums", F | B, GROUPS_BEFORE, AT(carried), SUMS,
     "the sums went on from group to group: not set to 0 before each"},
    {"carried-means", F | B, GROUPS_BEFORE, AT(carried), MEANS,
     "a sum began with the mean of the group before: not set to 0"},
    {"saved-mean-unshifted", F, ANY, AT(mean_saved), UNSHIFTED,
     "the mean was saved without its shift: that of x - x[0]"},
    {"saved-shift", F, CENTRED, AT(mean_saved), ITS_SHIFT,
     "x[0] was saved as the mean, without the mean of x - x[0]"},
    {"saved-correction", F, ANY, AT(mean_saved), CORRECTION,
     "the saved mean is 0, or only what corrects it: its shift was not added"},
    {"saved-sigma", F, ANY, AT(saved), SIGMA, "sigma was saved as rstd"},
    {"saved-variance", F, ANY, AT(saved), VARIANCE, "the variance was saved as rstd"},
    {"statistics-swapped", F, CENTRED, AT(saved), EXCHANGED, "mean and rstd are swapped"},
    {"momentum-swapped", F, ANY, AT(running), SWAPPED,
     "momentum the other way: it weighs the old statistic"},
    {"running-bias", F, ANY, AT(running), OTHER_BIAS,
     "running_var took the other variance: n - 1 for n, or n for n - 1"},
    {"running-eps", F, ANY, AT(running), WITH_EPS, "running_var took eps with the variance"},
    {"running-twice", F, ANY, AT(running), UPDATED_TWICE,
     "the running statistics were updated twice"},
    {"saved-running-mean", F, RUNNING, AT(mean_saved), RUNNING_MEAN,
     "the new running mean was saved as the mean"},
    {"running-old", F, ANY, AT(running), OLD, "the running statistics were not updated"},
    {"stats-all", F | B, ANY, AT(axis), EVERYTHING, "statistics over all elements"},
    {"stats-rows", F | B, ANY, AT(axis), FEATURES,
     "statistics per sample, over its channels: LayerNorm"},
    {"stats-columns", F | B, ANY, AT(axis), CHANNELS,
     "statistics per feature, over the rows: BatchNorm"},
    {"stats-instance", F | B, PLACES, AT(axis), INSTANCES,
     "statistics per sample and channel: InstanceNorm"},
    {"stats-position", F | B, PLACES, AT(axis), POSITIONS,
     "statistics per channel and place, over the samples"},
    {"stats-place", F | B, PLACES, AT(axis), PLACES_OF_SAMPLES,
     "statistics per sample and place, over the channels: LayerNorm, channels last"},
    {"channels-last", ALL, PLACES, AT(axis), READS_CHANNELS_LAST,
     "x was read as if its channels were the last axis"},
    {"stats-running", F, RUNNING, AT(inference), 1,
     "the running statistics, not the batch's: inference"},
    {"stats-batch", I, ANY, AT(inference), 0,
     "statistics of the batch, not the running ones: training"},
    {"mean-g-missing", B, ANY, AT(mean_g), 0, "the term mean(g) was left out"},
    {"mean-g-extra", B, ANY, AT(mean_g), 1, "a term mean(g), which only LayerNorm has"},
    {"mean-g-twice", B, CENTRED, AT(mean_g), 2, "the term mean(g) was subtracted twice"},
    {"mean-g-added", B, CENTRED, AT(mean_g), -1, "the sign: mean(g) was added, not subtracted"},
    {"mean-gx-missing", B, ANY, AT(mean_gx), 0, "the term xhat * mean(g * xhat) was left out"},
    {"mean-gx-twice", B, ANY, AT(mean_gx), 2,
     "the term xhat * mean(g * xhat) was subtracted twice"},
    {"mean-gx-added", B, ANY, AT(mean_gx), -1,
     "the sign: xhat * mean(g * xhat) was added, not subtracted"},
    {"mean-gx-plain", B, ANY, AT(gx_without_xhat), 1, "mean(g * xhat) was not multiplied by xhat"},
    {"gx-rstd-missing", B, ANY, AT(gx_rstd), -1,
     "rstd is missing once in xhat * mean(g * xhat), as with x - mean for one xhat"},
    {"gx-rstd-twice", B, ANY, AT(gx_rstd), 1, "one rstd too many in xhat * mean(g * xhat)"},
    {"g-sum", B, ANY, AT(undivided), OF_G, "the sum for mean(g): not divided by n"},
    {"gx-sum", B, ANY, AT(undivided), OF_GX, "the sum for mean(g * xhat): not divided by n"},
    {"both-g-sums", B, ANY, AT(undivided), OF_G | OF_GX,
     "sums for mean(g) and mean(g * xhat): not divided by n"},
    {"gamma-outside", B, ANY, AT(gain_in), OUT_OF_BRACKET,
     "gamma outside the bracket: gamma * rstd * (dy - mean(dy) - ...)"},
    {"gamma-also-outside", B, GAIN, AT(gain_in), IN_AND_OUT,
     "gamma twice in dx: in g, and outside the bracket"},
    {"gamma-not-in-means", B, ANY, AT(gain_in), NOT_IN_MEANS,
     "gamma was left out of mean(g) and mean(g * xhat)"},
    {"rstd-missing", B, ANY, AT(rstd_power), 0, "dx was not multiplied by rstd"},
    {"rstd-twice", B, ANY, AT(rstd_power), 2, "dx was multiplied by rstd twice"},
    {"dx-of-x", B, ANY, AT(operand), RAW_X | BESIDE | WITHIN, "x for xhat in dx"},
    {"dx-of-centred", B, CENTRED, AT(operand), CENTRED_X | BESIDE | WITHIN,
     "x - mean for xhat in dx: not multiplied by rstd"},
    {"dx-of-added", B, CENTRED, AT(operand), X_PLUS_MEAN | BESIDE | WITHIN,
     "the sign: (x + mean) * rstd for xhat in dx"},
    {"dx-of-scaled", B, CENTRED, AT(operand), SCALED_X | BESIDE | WITHIN,
     "x * rstd for xhat in dx: the mean was not subtracted"},
    {"beside-x", B, CENTRED, AT(operand), RAW_X | BESIDE,
     "x for xhat beside mean(g * xhat): x * mean(g * xhat)"},
    {"within-x", B, CENTRED, AT(operand), RAW_X | WITHIN,
     "x for xhat within the mean: xhat * mean(g * x)"},
    {"dgamma-of-x", B, ANY, AT(operand), RAW_X | IN_DGAMMA, "dgamma sums dy * x, not dy * xhat"},
    {"dgamma-of-centred", B, CENTRED, AT(operand), CENTRED_X | IN_DGAMMA,
     "dgamma sums dy * (x - mean), not multiplied by rstd"},
    {"dgamma-of-added", B, CENTRED, AT(operand), X_PLUS_MEAN | IN_DGAMMA,
     "the sign: dgamma sums dy * (x + mean) * rstd"},
    {"dgamma-of-scaled", B, CENTRED, AT(operand), SCALED_X | IN_DGAMMA,
     "dgamma sums dy * x * rstd: the mean was not subtracted"},
    {"backward-of-scaled", B, DGAMMA, AT(operand), SCALED_X | BESIDE | WITHIN | IN_DGAMMA,
     "x * rstd for xhat in dx and dgamma: the mean was not subtracted"},
    {"backward-of-x", B, DGAMMA, AT(operand), RAW_X | BESIDE | WITHIN | IN_DGAMMA,
     "x for xhat in dx and dgamma"},
    {"backward-of-centred", B, DGAMMA, AT(operand), CENTRED_X | BESIDE | WITHIN | IN_DGAMMA,
     "x - mean for xhat in dx and dgamma: not multiplied by rstd"},
    {"backward-of-added", B, DGAMMA, AT(operand), X_PLUS_MEAN | BESIDE | WITHIN | IN_DGAMMA,
     "the sign: (x + mean) * rstd for xhat in dx and dgamma"},
    {"dgamma-gained", B, ANY, AT(gradients_gained), OF_GAMMA,
     "dgamma sums gamma * dy * xhat, not dy * xhat"},
    {"dbeta-gained", B, ANY, AT(gradients_gained), OF_BETA, "dbeta sums gamma * dy, not dy"},
    {"gradients-gained", B, GRADIENTS, AT(gradients_gained), OF_GAMMA | OF_BETA,
     "dgamma and dbeta sum gamma * dy, not dy"},
    {"gradients-averaged", B, ANY, AT(gradients_averaged), 1,
     "dgamma or dbeta: a mean over the rows, not their sum"},
    {"gradients-swapped", B, GRADIENTS, AT(gradients_swapped), 1, "dgamma and dbeta are swapped"},
    {"gradients-shifted", B, ANY, AT(shifted), OF_GRADIENTS,
     "dgamma and dbeta shifted by one: [j + 1] in [j]"},
    {"gradients-shifted-back", B, ANY, AT(shifted), OF_GRADIENTS | BACK,
     "dgamma and dbeta shifted by one: [j - 1] in [j]"},
};

static bool concerns(const struct row *r, const mistake_list *l) {
    const subject *s = l->s;
    const bool centred = nl_layers[s->p->op].centred, before = nl_group_count(s->p) > 2;
    const bool channelled = nl_layers[s->p->op].by_channel;
    int now;
    memcpy(&now, (const char *)&l->right + r->at, sizeof now);
    const bool so[] = {[ANY] = true,
                       [HALVES] = s->p->dtype != NL_F32,
                       [PLACES] = channelled && s->p->s > 1,
                       [GROUPS_BEFORE] = before,
                       [MEANS_BEFORE] = before && centred,
                       [GRADIENTS] = s->got[NL_DGAMMA] && s->got[NL_DBETA],
                       [DGAMMA] = s->got[NL_DGAMMA],
                       [ROWS] = s->p->n > 1,
                       [RUNNING] = s->in->running_mean && s->in->running_var,
                       [GAIN] = s->in->gamma,
                       [AFFINE] = s->in->gamma && s->in->beta,
                       [RESIDUAL] = s->in->residual || s->in->dresidual,
                       [CENTRED] = centred};
    if (r->at == AT(axis) && r->value == (channelled ? CHANNELS : FEATURES)) return false;
    return (r->passes & NL_BIT(s->p->pass)) && so[r->when] && now != r->value;
}

size_t mistakes_list(const subject *s, workspace *w, mistake out[MISTAKES_MAX]) {
    mistake_list l = {s, formula_right(s), out, 0};
    families_begin(&l);
    for (const struct row *r = rows; r < rows + sizeof rows / sizeof *rows; r++)
        if (concerns(r, &l))
            memcpy((char *)mistake_add(&l, r->name, 0, "%s", r->text) + r->at, &r->value,
                   sizeof r->value);
    families_add(&l, w);
    return l.count;
}
