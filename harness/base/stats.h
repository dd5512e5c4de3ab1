/* The statistics of comparisons, on logarithms of time ratios: medians, intervals that (except
 * Student's) assume nothing about the noise, and four verdicts. docs/measuring.md explains them.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* An estimate and the interval that holds the true median with a given confidence. With too few
 * values for an interval, low and high are -INFINITY and INFINITY. */
typedef struct estimate {
    double median, low, high;
} estimate;

/* The median of n values, and the interval of the sign test: order statistics whose ranks follow
 * from the binomial distribution. Sorts the values in place. confidence: for example 0.95. */
estimate stats_median(double *values, size_t n, double confidence);

/* The fewest passes, or sittings (evidence.h), whose differences give an interval. */
enum { PASSES_ENOUGH = 3, PASSES_MAX = 1000 };

/* A process, or a visit of a race, is undisturbed if its time is at most this factor times the
 * shortest time. */
#define QUIET_WITHIN 1.02

/* The median of n values with a 95 % interval; each value comes from many rounds, as a pass does.
 * From six values on the interval is the sign test's; for two to five values it is Student's,
 * around the mean. Sorts in place. */
estimate stats_middle(double *values, size_t n);

/* The difference b - a of the means of two sets of at least two values each, with Student's 99 %
 * interval. */
estimate stats_difference(const double *a, size_t na, const double *b, size_t nb);

/* Returns the mean; adds the squares of the distances from the mean to *squares. */
double stats_mean(const double *values, size_t n, double *squares);

/* The q-quantile; sorts the values in place. */
double stats_quantile(double *values, size_t n, double q);

/* The largest k, counted from 1, for which [k-th smallest, k-th largest] of n values contains the
 * median with the given confidence; 0: there is none. */
size_t stats_rank(size_t n, double confidence);

/* The confidence that each of N intervals needs so that all hold together with 95 %
 * (Bonferroni). */
double stats_confidence(size_t intervals);

typedef enum comparison { FASTER, SLOWER, SAME, NOT_RESOLVED } comparison;

const char *comparison_name(comparison c); /* "NOT RESOLVED" */

/* log_ratio: the logarithm of time over baseline time. SAME: the whole interval lies within
 * +-margin (a log ratio: 0.02 is about 2 %), and so does the A/A band. FASTER and SLOWER: the whole
 * interval lies beyond the band, which is the baseline's ratio to itself in the same rounds. */
comparison stats_verdict(estimate log_ratio, double band, double margin);

/* The band of an A/A candidate: the larger absolute value of its interval's two ends. */
double stats_band(estimate log_ratio);

/* Is a time below the limit by more than margin plus band? log_ratio: log of time over limit. */
bool stats_impossible(estimate log_ratio, double band, double margin);

/* Estimates how many rounds, in addition to n, resolve the verdict; 0: it is resolved. */
size_t stats_rounds_to_go(estimate log_ratio, double band, double margin, size_t n);
