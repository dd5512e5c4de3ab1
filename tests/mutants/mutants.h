/* Wrong kernels that the verifier must reject: table.c has them by name, kernel.c makes them, and
 * tests/checker.c puts the verifier on trial. Only the tests are built with them.
 * SPDX-License-Identifier: MIT */
#ifndef NL_MUTANTS_H
#define NL_MUTANTS_H

#include "normlab.h"

enum { NANS = 1, ZEROS, LEAVE_ONE, LEAVE_TAIL, LEAVE_ROW, PAST = 1, BEFORE };

/* What the kernel, right for every layer, does wrong; all zero: nothing. */
typedef struct wrong {
    int y, read, write, more_means; /* more_means: mean(g) terms too many in dx */
    int right_calls; /* so many calls are right, and then y is zero; 0: no such thing */
    bool eps_outside, unbiased, one_pass, biased_running, momentum_swapped, old_running, next_gamma,
        last_rstd, half_sums, read_gamma, write_x, no_residual, x_for_sum, rounded_sum, other_cast,
        other_gain, gamma_outside, adds_dgamma, keeps_dgamma, one_threads_dgamma, no_dresidual,
        lost_lane, lost_run;
    float mean_off, rstd_off;
} wrong;

typedef struct mutant {
    const char *name, *text; /* the case it has to fail, where the right kernel passes */
    wrong w;
} mutant;

extern const mutant mutants[];
extern const size_t mutant_count;

/* The kernel, from now on wrong like that; it has not been called before. */
nl_impl mutant_kernel(nl_method method, wrong now);

#endif
