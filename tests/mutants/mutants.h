/* Wrong kernels that the verifier must reject: table.c names them, kernel.c computes them,
 * tests/verify/checker.c tests the verifier with them, and tests/acceptance/ other projects' tests.
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

/* The mistakes of the kernel; all zero: it is right. */
typedef struct wrong {
    int y, read, write, more_means; /* more_means: extra mean(g) terms in dx */
    int right_calls;                /* after N right calls y is zero; 0: never */
    bool eps_outside, unbiased, one_pass, biased_running, momentum_swapped, old_running, next_gamma,
        last_rstd, half_sums, read_gamma, write_x, no_residual, x_for_sum, rounded_sum, other_cast,
        other_gain, gamma_outside, adds_dgamma, adds_numbers, keeps_dgamma, one_threads_dgamma,
        no_dresidual, no_dbeta, lost_lane, lost_run, other_centre, no_gamma, no_beta, beta_first,
        next_x, last_stats, sums_for_means, no_root, sigma, residual_last, unset_scratch, unsteady,
        noise, last_feature_off, first_row_off, no_gx, no_rstd, x_in_dgamma, gained_dgamma,
        mean_dgamma, last_rows_dgamma, trusts_scratch, carried_sums, carried_means, no_means,
        unshifted_mean, twice_gamma, negated, swapped_stats, about_first, saved_correction;
    bool half_xhat, half_mean_g, half_mean_gx, half_mean, half_rstd, half_gain; /* in 16 bits */
    bool toward_zero, ties_away;    /* how y, residual_out and dx are stored */
    bool write_problem, lost_dbeta; /* dbeta misses lost_rows, too */
    bool odd_numbers;               /* in odd groups a NaN of x or dy counts as 0 */
    bool folded, raw_sums;          /* no mistakes: y = x * a + b; dx from sums of g and g * x */
    float eps;                      /* replaces the problem's eps; 0: none */
    size_t feature;                 /* no_gamma and no_beta are meant from this feature on */
    size_t run;                     /* statistics over runs of N elements in memory */
    float mean_off, var_off, rstd_off, flushed; /* flushed: smaller outputs are stored as zero */
    size_t sums_end;                            /* sums along a row end here; 0: at its end */
    size_t residual_end;                        /* the residual in such sums ends here */
    size_t lost_element;  /* 1 + the element that a row's sums miss; 0: none */
    size_t lost_rows;     /* dgamma misses one row of N, */
    size_t lost_blocks;   /* or all full blocks of N */
    size_t stale_from;    /* rows from here on take the statistics of the row before it */
    size_t folded_from;   /* no mistake: rows from here on are folded */
    size_t from;          /* all of this only in groups of N values, */
    size_t from_rows;     /* with N groups, */
    unsigned with;        /* in calls with these arguments, NL_BIT() of each, */
    unsigned without;     /* but without these, */
    unsigned overwritten; /* and that overwrite just these inputs; 0: any */
    bool in_suite;        /* no mistake: the mutant's case is in the built-in suite */
} wrong;

typedef struct mutant {
    const char *name, *text; /* text: a case that it must fail and the right kernel passes */
    wrong w;
} mutant;

extern const mutant mutants[];
extern const size_t mutant_count;

/* Returns the kernel with these mistakes, and resets its count of calls. */
nl_impl mutant_kernel(nl_method method, wrong now);
