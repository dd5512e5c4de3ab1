/* Wrong kernels that the verifier must reject: table.c names them, kernel.c computes them, and
 * tests/checker.c tests the verifier with them. Only the tests contain them.
 * SPDX-License-Identifier: MIT */
#ifndef NL_MUTANTS_H
#define NL_MUTANTS_H

#include "normlab.h"

enum { NANS = 1, ZEROS, LEAVE_ONE, LEAVE_TAIL, LEAVE_ROW, PAST = 1, BEFORE };

/* The mistakes of the kernel; all zero: it is right. */
typedef struct wrong {
    int y, read, write, more_means; /* more_means: extra mean(g) terms in dx */
    int right_calls;                /* after so many right calls y is zero; 0: never */
    bool eps_outside, unbiased, one_pass, biased_running, momentum_swapped, old_running, next_gamma,
        last_rstd, half_sums, read_gamma, write_x, no_residual, x_for_sum, rounded_sum, other_cast,
        other_gain, gamma_outside, adds_dgamma, keeps_dgamma, one_threads_dgamma, no_dresidual,
        lost_lane, lost_run;
    float mean_off, rstd_off;
} wrong;

typedef struct mutant {
    const char *name, *text; /* text: a case that it must fail and the right kernel passes */
    wrong w;
} mutant;

extern const mutant mutants[];
extern const size_t mutant_count;

/* Returns the kernel with these mistakes, and resets its count of calls. */
nl_impl mutant_kernel(nl_method method, wrong now);

#endif
