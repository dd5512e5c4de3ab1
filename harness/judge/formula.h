/* Computes the outputs in long double, by the right formula or by a formula with one change.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "judge/subject.h"

#include <stddef.h>

/* The elements that share statistics. */
typedef enum axis {
    GROUPS,             /* the layer's own groups */
    FEATURES,           /* the features of a row */
    CHANNELS,           /* a channel */
    EVERYTHING,         /* the whole array */
    INSTANCES,          /* a channel of one sample */
    POSITIONS,          /* one position in all samples */
    PLACES_OF_SAMPLES,  /* the channels at a place of one sample */
    ROWS_TOGETHER,      /* `together` rows */
    PARTS,              /* `together` features or channels of one sample */
    BATCH_PARTS,        /* a channel in `together` samples */
    READS_CHANNELS_LAST /* a channel, if channels were the last axis */
} axis;

/* centred: where the mean is subtracted. ABOUT_FIRST: in the output, while the squares subtract
 * x[0]. ADDED: the output adds the mean. FIRST_ALONE, REST_ALONE: the output subtracts only x[0],
 * or only mean - x[0]. */
enum { NOWHERE, EVERYWHERE, IN_SQUARES, IN_OUTPUT, ABOUT_FIRST, ADDED, FIRST_ALONE, REST_ALONE };
/* variance: which terms are summed, or what is wrong with E[x^2] - mean^2 */
enum {
    OF_SQUARED,
    OF_PLAIN,
    SQUARED_LATE,
    OF_ABSOLUTE,  /* the mean of |x|, squared */
    ABSOLUTE_OUT, /* the mean of |x|, squared, and eps added outside the root */
    MEAN_ADDED,
    MEAN_TAKEN,
    REST_TAKEN,
    LOCAL,   /* the average of the variances of `together` parts */
    STRIDED, /* as LOCAL; a part has every `together`-th element */
};
enum { INSIDE, OUTSIDE, TIMES_SIGMA, LARGER_ONE }; /* root; LARGER_ONE: max(variance, eps) */
/* residual; LAST: added to y; ALSO_LAST: to x and y; IN_DY: dresidual is added to dy */
enum {
    SUMMED,
    IGNORED,
    NOT_IN_SUMS,
    LAST,
    ALSO_LAST,
    TWICE_SUMMED,
    UNROUNDED, /* not rounded, although p->sum rounds */
    SUBTRACTED,
    EARLY_ROUNDED,
    IN_DY,
    WEIGHTED,  /* times past_weight */
    X_WEIGHTED /* x times past_weight */
};
/* bits of gate: silu(gate) multiplies y, x, or both; SIGMOID: sigmoid(gate) does */
enum { UNGATED, GATE_LAST, GATE_FIRST, GATE_TWICE, SIGMOID, SIGMOID_LAST, SIGMOID_FIRST };
/* slope: what stands in dgate for the gate's derivative */
enum { ITS_SLOPE, NEGATED_SLOPE, SILU_ITSELF, SIGMOID_ALONE, SIGMOID_SLOPE };
enum { NO_GAIN, GAMMA, ONE_PLUS };             /* gain */
enum { ONCE, TWICE, NEGATED };                 /* gained */
enum { BETA_ADDED, BETA_IGNORED, BETA_FIRST }; /* beta; FIRST: before the gain */
/* `output`. COPIED: y is x, or dx is dy; NO_BRACKETS: y is x - mean * rstd */
enum { COMPUTED, COPIED, NOT_NORMALIZED, RSTD_ALONE, NO_BRACKETS };
enum { OF_MEAN = 1, OF_SQUARES, OF_G = 4, OF_GX = 8, OF_FIRST = 16 }; /* less, undivided, stale */
/* bits of shifted */
enum { OF_GAMMA = 1, OF_BETA, OF_X = 4, OF_GRADIENTS = 8, BACK = 16, OF_ROWS = 32, REVERSED = 64 };
enum { OF_GATE = 128, OF_Y = OF_X | OF_GAMMA | OF_BETA | OF_GATE }; /* more bits of shifted */
enum { RSTD, SIGMA, VARIANCE, EXCHANGED }; /* saved as rstd; EXCHANGED: with the mean */
/* mean_saved: the mean; mean - x[0]; 0; the running mean; x[0] */
enum { WHOLE, UNSHIFTED, CORRECTION, RUNNING_MEAN, ITS_SHIFT };
enum { SWAPPED = 1, OTHER_BIAS, OLD = 4, WITH_EPS = 8, UPDATED_TWICE = 16 }; /* bits of running */
enum { IN_BRACKET, OUT_OF_BRACKET, NOT_IN_MEANS, IN_AND_OUT };               /* gain_in */
/* operand: one of the names up to Y_FOR_X replaces xhat. The other bits tell the place: BESIDE
 * mean(g * xhat), WITHIN that mean, IN_DGAMMA. */
enum {
    XHAT,
    RAW_X,
    CENTRED_X,
    X_PLUS_MEAN,
    SCALED_X,
    Y_FOR_X,
    BESIDE = 8,
    WITHIN = 16,
    IN_DGAMMA = 32
};
enum { SUMS = 1, MEANS };                                 /* carried */
enum { FLUSHED = 1, SATURATED, X_FLUSHED };               /* range */
enum { NOTHING, RELU, SILU, GELU, GELU_TANH, GELU_FAST }; /* activation, after the layer */
enum { CLIP_XHAT = 1, CLIP_OUTPUT };                      /* clipped */
/* more types of `to`, after those of nl_dtype; a GRID has equal steps */
enum { E4M3 = NL_DTYPES, E5M2, TF32, BITS_4, GRID };
/* bits of `rounds`. STEPS: every result, such as x - mean and gain * xhat */
enum {
    A_X = 1 << 0,
    A_SUM = 1 << 1,
    A_GAMMA = 1 << 2,
    A_GAIN = 1 << 3,
    A_BETA = 1 << 4,
    A_MEAN = 1 << 5,
    A_RSTD = 1 << 6,
    AN_XHAT = 1 << 7,
    AN_OUTPUT = 1 << 8,
    A_DY = 1 << 9,
    A_MEAN_OF_G = 1 << 10,
    A_DGAMMA = 1 << 11,
    A_DBETA = 1 << 12,
    A_VARIANCE = 1 << 13,
    A_PRODUCT = 1 << 14,  /* gain * xhat, before beta */
    A_SCALE = 1 << 15,    /* gain * rstd */
    A_FOLD = 1 << 16,     /* y is x * a + b: a = gain * rstd and b = beta - mean * a */
    A_SUM_LATE = 1 << 17, /* x + residual in y, but not in the statistics */
    STEPS = 1 << 18
};

typedef struct formula {
    int axis, centred, variance, root, residual, casting, gain, gained, beta, gate, slope;
    int unbiased, inference, output, range;
    int affine_swapped; /* gamma and beta */
    unsigned zeroed;    /* NL_BIT() of each output that is 0 throughout */
    int rstd_power;     /* the number of factors rstd in y or dx */
    int rounds, to,
        cuts_off; /* bits of the rounded values; their type; 1: rounds them towards zero */
    int squares_in, sums_in; /* 0, or 1 + a type: of the squares; of all sums */
    int terms_exact;         /* the sums are rounded, the terms are not */
    int mean_is_first;       /* x[0] replaces the mean */
    int less;                /* bits of the sums whose divisor is 1 too small */
    int undivided;           /* bits of the sums that are divided by `divisor` */
    int stale;               /* bits of the statistics taken from the previous or the first group */
    int carried;             /* sums begin with the SUMS, or MEANS, of the previous group */
    int shifted;             /* bits: what feature j takes from j + 1; BACK: from j - 1 */
    int saved, mean_saved, running, x_as_sum;
    int mean_g, mean_gx;          /* backward: how often each mean is subtracted */
    int gx_without_xhat, gx_rstd; /* mean_gx's term lacks xhat; has one rstd more or less */
    int gain_in, operand;
    int gradients_gained;           /* OF_GAMMA, OF_BETA: gamma * dy replaces dy */
    int gradients_averaged;         /* means over the rows instead of sums */
    int gradients_swapped;          /* dgamma and dbeta */
    int gradients_in;               /* 0, or 1 + the type in which rows are added up */
    size_t together;                /* size for ROWS_TOGETHER, PARTS and BATCH_PARTS */
    size_t member, members_end;     /* the elements of a group that are summed */
    int squares_whole;              /* the squares are summed over all elements */
    int mean_whole;                 /* the mean is summed over all elements */
    int activation, clipped, drops; /* drops: y is 0 where the subject's is */
    int x_is_y;                     /* y replaces x */
    int updated;                    /* inference first updates the statistics; 2: unbiased */
    int step_of_row;           /* 1: a grid of 127 steps up to the largest number of each row */
    int permuted;              /* bits as in shifted: element e of `length` takes element */
    size_t unit, length, ways; /* e % ways * (length / ways) + e / ways, counted in `unit` */
    int gradients_of;          /* the gradients that gradients_in concerns; 0: both */
    int products_in;           /* 0, or 1 + the type that rounds dy * xhat */
    int rows_out;              /* rows `row` to `rows_end` - 1 count rows_out - 1 times */
    size_t lanes;              /* every lanes-th element is summed twice, from the first on */
    size_t padding;            /* number of extra terms (0 - mean)^2 in the squares */
    size_t row, rows_end;      /* rows_out 0: only these rows go into dgamma and dbeta */
    long double eps, divisor, factor, offset, limit, past_weight, momentum, step;
} formula;

formula formula_right(const subject *s);

/* One output: a formula's values, the scale of its errors, the error allowed after rounding, and
 * the numbers that may have any value (open). */
typedef struct column {
    size_t count;
    double *value, *scale, *allowed;
    double *was; /* error of the right formula for each number */
    bool *open;
} column;

typedef struct workspace {
    const subject *s;
    size_t count;                      /* elements of x */
    size_t from, to;                   /* range of the elements that are computed: whole rows */
    long double *mean, *rstd, *g, *gx; /* one per group, at most `count` */
    column of[NL_ARGS];                /* a column for each output of the subject */
    double *memory;
    bool *open;
} workspace;

/* The difference between the subject's outputs and a formula's, in units. */
typedef struct mismatch {
    double rms, largest;
    double was;        /* the rms error of the right formula for the same numbers */
    size_t beyond;     /* numbers with an error above the bound */
    size_t hits;       /* numbers far beyond the right formula's bound, but within this formula's */
    size_t not_finite; /* numbers that are NaN in only one of the two */
    size_t finite;     /* finite numbers of the subject */
} mismatch;

bool workspace_open(workspace *w, const subject *s); /* false: out of memory */
void workspace_close(workspace *w);

/* Return the group of element i along the formula's axis, and the number of groups. */
size_t formula_group(const subject *s, const formula *r, size_t i);
size_t formula_groups(const subject *s, const formula *r);

void formula_evaluate(workspace *w, const formula *r); /* fills w->of, in the outputs' types */
/* Compares w->of with the subject's outputs. right: w->of comes from the right formula. */
mismatch formula_residual(workspace *w, bool right);

/* The formulas of forward and backward share the functions below. */

/* Compute the outputs from the statistics. In forward w->g holds each group's variance. */
void formula_forward(workspace *w, const formula *r);
void formula_backward(workspace *w, const formula *r);

/* Returns x as the formula takes it, with the residual. */
long double formula_input(const subject *s, const formula *r, size_t i);
/* Returns the gate's factor of the normalized value or, with `first`, of x. */
long double formula_gate(const subject *s, const formula *r, bool first, size_t i);
/* Returns the formula's dy: the gradient of the normalized value times the gain. */
long double formula_dy(const subject *s, const formula *r, size_t i);
/* Returns what the formula adds for the residual or dresidual `past`. */
long double formula_past(const formula *r, long double past);
/* Returns v, rounded if the formula rounds any of `what`. */
long double formula_rounded(const formula *r, int what, long double v);
/* Rounds v as the formula does and stores it as number i of y or dx. Near a tie, accepts both
 * neighbours. */
void formula_store(workspace *w, const formula *r, size_t i, long double v);
size_t formula_feature(const subject *s, const formula *r, size_t i);
long double formula_gain_at(const subject *s, const formula *r, size_t j);
long double formula_normalized(const workspace *w, const formula *r, size_t i);
/* Returns the divisor of a sum. The right divisor is `length`. */
long double formula_divisor(const formula *r, int sum, long double length);
/* Changes the means as if each group's sum began with the previous group's sum or mean. */
void formula_carry(const formula *r, size_t groups, long double length, long double *mean);
bool formula_is_summed(const workspace *w, const formula *r, size_t i);
/* Returns the index from which element i takes its x, gamma or beta (what: OF_X, ...); negative:
 * there is no such element. */
ptrdiff_t formula_from(const subject *s, const formula *r, int what, size_t i);

/* Set number i of an output: to v; to any number, if the mistake does not determine it; or to the
 * one of two numbers that is nearer to the subject's. */
void formula_put(workspace *w, nl_arg o, size_t i, long double v);
void formula_put_any(workspace *w, nl_arg o, size_t i);
void formula_put_either(workspace *w, nl_arg o, size_t i, long double one, long double two);
