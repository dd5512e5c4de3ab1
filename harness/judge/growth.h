/* Errors that no formula explains are rounding: how they lie along a row and how they grow with kappa
 * tell which. SPDX-License-Identifier: MIT */
#ifndef NL_GROWTH_H
#define NL_GROWTH_H

#include "judge/subject.h"

/* The error of all groups split into what is the same along a group, what is proportional to xhat,
 * and the rest: shares of its energy. Counts groups with a finite error, and leaves in rest[] the
 * rms of each one's rest, in units. */
typedef struct pattern {
    double offset, scale, rest;
    double rest_rms; /* of all groups, units */
    size_t groups;
} pattern;
pattern growth_pattern(const subject *s, double *rest);

/* A line through log(error) against log(kappa), over the groups with 2 units or more. It decides
 * only where enough groups have a large enough range of kappa, and lie near the line. */
typedef struct growth {
    double slope, half_width; /* of its 95 % interval */
    double correlation, low, high;
    size_t groups;
    bool decides;
} growth;
growth growth_fit(const double *kappa, const double *error, size_t groups);

/* What the growth of the whole error, that of its rest and the pattern say together, or NULL. */
const char *growth_mechanism(const subject *s, const growth *all, const growth *rest,
                             const pattern *p);

#endif
