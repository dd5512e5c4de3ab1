/* The statistics of comparisons, on logarithms of time ratios: medians, intervals that assume
 * nothing about the noise, and four verdicts. docs/measuring.md explains them.
 * SPDX-License-Identifier: MIT */
#ifndef NL_STATS_H
#define NL_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* An estimate and the interval that holds the true median with the confidence asked for. With too
 * few values for that, low and high are -INFINITY and INFINITY. */
typedef struct estimate {
    double median, low, high;
} estimate;

/* Of n values in any order; they are sorted in place. The interval is that of the sign test: order
 * statistics whose ranks follow from the binomial distribution. confidence as 0.95. */
estimate stats_median(double *values, size_t n, double confidence);

/* The value below which the share q of them lies; sorted in place as well. */
double stats_quantile(double *values, size_t n, double q);

/* The smallest k for which [k-th smallest, k-th largest] of n values holds the median with the
 * confidence, counted from 1; 0 when even the extremes do not. */
size_t stats_rank(size_t n, double confidence);

/* 95 % shared out among that many intervals looked at together (Bonferroni). */
double stats_confidence(size_t intervals);

typedef enum comparison { FASTER, SLOWER, SAME, NOT_RESOLVED } comparison;

const char *comparison_name(comparison c); /* "NOT RESOLVED" */

/* log_ratio: of time over baseline time. SAME: the whole interval lies within +-margin (a log
 * ratio: 0.02 is about 2 %), and so does the A/A band. FASTER and SLOWER: the whole interval lies
 * beyond the band, which is what the baseline against itself showed in the same rounds. */
comparison stats_verdict(estimate log_ratio, double band, double margin);

/* The band of an A/A arm: the larger end of its interval, without sign. */
double stats_band(estimate log_ratio);

/* Is a rate beyond the limit by more than margin and band explain? log_time: own time over the
 * limit's; log_bytes: own bytes over the limit's. */
bool stats_impossible(estimate log_time, double log_bytes, double band, double margin);

/* About how many more rounds, after n, until the verdict would resolve; 0 when it has. */
size_t stats_rounds_to_go(estimate log_ratio, double band, double margin, size_t n);

#endif
