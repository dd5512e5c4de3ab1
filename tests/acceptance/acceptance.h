/* Runs known-wrong kernels through the acceptance tests of other projects (docs/other-tests.md).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "judge/mechanism.h"
#include "mutants.h"

/* How an argument is filled. 'n': a + b * N(0, 1); 'u': uniform from a to b; 'c': a. As in oneDNN's
 * benchdnn: 'p': pairs about the row's mean (1/4 to 16); 'm': the row's mean plus 1 and minus 1 in
 * turn; '2': +-2^-4 to +-2^2; 'g', 's': benchdnn's scale and shift. 0: as data `normal`. */
typedef struct fill {
    char how;
    double a, b;
} fill;

/* CLOSE: every |got - want| <= atol + rtol |want|, which fails for a NaN. FINITE: as CLOSE, but a
 * NaN passes, and elements whose want is not finite are skipped. SQUARES: the sum of squared errors
 * is at most rtol times the sum of want^2. NORM: in forward CLOSE, relative to want or want - beta,
 * whichever is larger; in backward SQUARES with rtol^2. */
typedef enum rule { CLOSE, FINITE, SQUARES, NORM } rule;

typedef struct tolerance {
    double rtol, atol;
} tolerance;

enum { ACCEPTANCES = 12, ACCEPTANCE_CASES = 4, BACKWARD = 1 };

typedef struct acceptance {
    const char *name;
    rule rule;
    unsigned types;                      /* NL_BIT() of each tested type */
    tolerance within[2][NL_DTYPES];      /* [0]: y and statistics, [1]: gradients */
    fill x, residual, gain, beta, dy;    /* gain: gamma, or 1 + w */
    const char *cases[ACCEPTANCE_CASES]; /* rows x features, and options */
    unsigned compares;                   /* NL_BIT() of each compared output */
    int more_seeds;
    bool own_options; /* adds options of the suspect's own case: residual, no-..., in-place */
    bool jacobian;    /* makes a call for each element, with dy 1 at this element and 0 elsewhere */
} acceptance;

extern const acceptance acceptances[ACCEPTANCES];

/* Does the rule accept the numbers of one output? beta: the beta that y contains, or NULL. */
bool acceptance_meets(const acceptance *t, const nl_problem *p, const float *beta,
                      const double *got, const double *want, size_t count);

/* Fills the inputs of a case as the test does; `turn` is the seed. */
void acceptance_fill(const acceptance *t, const nl_case *c, nl_data *data, int turn);
