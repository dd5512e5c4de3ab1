/* Errors that no formula explains come from rounding. Their pattern along a row and their growth
 * with kappa show which step rounded. SPDX-License-Identifier: MIT */
#pragma once

#include "judge/subject.h"

/* Splits the errors within each group into a constant, a part proportional to xhat, and the rest,
 * as shares of the energy over all groups. Counts groups with finite errors; rest[] gets the rms of
 * each group's rest, in units. Needs y. */
typedef struct pattern {
    double offset, scale, rest;
    double shrinking; /* the share of factors below 1, of the groups that clearly have a factor; 0:
                         fewer than 8 such groups */
    double steepest;  /* the largest factor of a group, less 1 */
    double rest_rms;  /* of all groups, units */
    size_t groups;
} pattern;
pattern growth_pattern(const subject *s, double *rest);

/* Fits a line to log(error) against log(kappa), over the groups with 2 units or more. decides:
 * enough groups, over a large enough range of kappa, lie near the line. */
typedef struct growth {
    double slope, half_width; /* of its 95 % interval */
    double correlation, low, high;
    double log_kappa, log_error; /* means of groups: a point of the line */
    size_t groups;
    bool decides;
} growth;
growth growth_fit(const double *kappa, const double *error, size_t groups);

/* Is an error at most eight times the line's value? */
bool growth_foretells(const growth *g, double kappa, double error);

/* A mechanism that shows at any one kappa, or NULL. error: the rms of each group, in units. */
const char *growth_at_one_kappa(const subject *s, const double *kappa, const double *error,
                                const pattern *p);

/* The mechanism that fits the growth of the error and of its rest, and the pattern; or NULL. */
const char *growth_mechanism(const subject *s, const growth *all, const growth *rest,
                             const pattern *p);
