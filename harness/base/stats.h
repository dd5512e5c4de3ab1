/* The statistics of comparisons, on logarithms of time ratios: medians, intervals that assume
 * nothing about the noise, and four verdicts. docs/measuring.md explains them.
 * SPDX-License-Identifier: MIT */
#ifndef NL_STATS_H
#define NL_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* An estimate and the interval that holds the true median with a given confidence. With too few
 * values for that, low and high are -INFINITY and INFINITY. */
typedef struct estimate {
    double median, low, high;
} estimate;

/* The median of n values, which are sorted in place. The interval is that of the sign test: order
 * statistics whose ranks follow from the binomial distribution. confidence: as 0.95. */
estimate stats_median(double *values, size_t n, double confidence);

/* Fewer passes, or sittings of passes, say nothing of how much they differ. */
enum { PASSES_ENOUGH = 3, PASSES_MAX = 1000 };

/* The median of n values that stand for a level above rounds, as passes do, with 95 %. From six on
 * the interval is that of the sign test; three to five give none, so theirs is Student's, about the
 * mean. Sorts in place. */
estimate stats_middle(double *values, size_t n);

/* The difference of the middles of two such sets, b - a, with 99 %: Student's interval, from how much
 * the values of each differ among themselves. Both have at least two. */
estimate stats_difference(const double *a, size_t na, const double *b, size_t nb);

/* The q-quantile; sorts in place as well. */
double stats_quantile(double *values, size_t n, double q);

/* The largest k, counted from 1, for which [k-th smallest, k-th largest] of n values holds the
 * median with the confidence; 0 when even the extremes do not. */
size_t stats_rank(size_t n, double confidence);

/* The confidence each of so many intervals needs for 95 % that all hold (Bonferroni). */
double stats_confidence(size_t intervals);

typedef enum comparison { FASTER, SLOWER, SAME, NOT_RESOLVED } comparison;

const char *comparison_name(comparison c); /* "NOT RESOLVED" */

/* log_ratio: of time over baseline time. SAME: the whole interval lies within +-margin (a log
 * ratio: 0.02 is about 2 %), and so does the A/A band. FASTER and SLOWER: the whole interval lies
 * beyond the band, the baseline's ratio to itself in the same rounds. */
comparison stats_verdict(estimate log_ratio, double band, double margin);

/* The band of an A/A arm: the end of its interval farther from 0, without sign. */
double stats_band(estimate log_ratio);

/* Is a time below the limit's by more than margin and band? log_ratio: time over the limit's. */
bool stats_impossible(estimate log_ratio, double band, double margin);

/* Estimates how many rounds after n resolve the verdict; 0 when it is resolved. */
size_t stats_rounds_to_go(estimate log_ratio, double band, double margin, size_t n);

#endif
