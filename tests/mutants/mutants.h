/* Wrong kernels that the verifier must reject. table.c names them, kernel.c computes them. They
 * test the verifier (tests/verify/checker.c) and other projects' tests (tests/acceptance/).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "layer.h"

enum {
    NANS = 1,
    ZEROS,
    LEAVE_ONE,
    LEAVE_TAIL,
    LEAVE_ROW,
    LEAVE_LANE,
    LEAVE_SHARE,
    PAST = 1,
    BEFORE
};

/* The mistakes of the kernel; if all are zero, the kernel is right. */
typedef struct wrong {
    int y, read, write, more_means; /* more_means: extra mean(g) terms in dx */
    int right_calls;                /* y is zero after N right calls; 0: never */
    bool eps_outside, flushed_eps, unbiased, one_pass, biased_running, momentum_swapped,
        old_running, next_gamma, last_rstd, half_sums, read_gamma, write_x, no_residual, x_for_sum,
        rounded_sum, other_cast, other_gain, gamma_outside, adds_dgamma, adds_numbers, keeps_dgamma,
        one_threads_dgamma, no_dresidual, no_dbeta, lost_lane, lost_run, no_gamma, no_beta, next_x,
        unset_scratch, unsteady, noise, last_feature_off, first_row_off, x_in_dgamma,
        trusts_scratch, unshifted_mean, swapped_stats, saved_correction;
    bool half_xhat, half_mean_g, half_mean_gx, half_mean, half_rstd, half_gain; /* in 16 bits */
    bool toward_zero, ties_away;    /* the rounding of y, residual_out and dx */
    bool write_problem, lost_dbeta; /* lost_dbeta: dbeta misses lost_rows too */
    bool odd_numbers;               /* in odd groups a NaN of x or dy is replaced by 0 */
    bool folded, raw_sums;          /* allowed: y = x * a + b; dx from sums of g and g * x */
    float eps;                      /* if not 0, replaces the problem's eps */
    size_t feature;                 /* no_gamma and no_beta begin at this feature */
    size_t run;                     /* statistics over runs of N elements in memory */
    float mean_off, var_off, rstd_off, flushed; /* flushed: outputs smaller than this become zero */
    size_t sums_end;                            /* sums along a row end here; 0: at the row's end */
    size_t residual_end;                        /* a row's sums lose the residual from here on */
    size_t lost_element;  /* 1 + the element that a row's sums miss; 0: none */
    size_t lost_rows;     /* dgamma misses one row in every N */
    size_t lost_blocks;   /* dgamma misses all full blocks of N rows */
    size_t stale_from;    /* rows from this row on use the statistics of the row before it */
    size_t folded_from;   /* allowed: from this row on y = x * a + b */
    size_t from;          /* mistakes only if groups have at least N values */
    size_t from_rows;     /* mistakes only if there are at least N groups */
    unsigned with;        /* mistakes only in calls with these arguments, as NL_BIT() */
    unsigned without;     /* mistakes only in calls without these arguments */
    unsigned overwritten; /* mistakes only if exactly these inputs are overwritten; 0: any */
    bool in_suite;        /* not a mistake: the built-in suite has the mutant's case */
} wrong;

typedef struct mutant {
    const char *name, *text; /* text: the mutant fails this case, the right kernel passes */
    wrong w;
} mutant;

extern const mutant mutants[];
extern const size_t mutant_count;

/* Returns the kernel with these mistakes, and resets the kernel's counter of calls. */
nl_impl mutant_kernel(nl_method method, wrong now);
