/* Only Student's intervals assume normal noise; timing noise is skewed and has outliers on one
 * side. SPDX-License-Identifier: MIT */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double stats_quantile(double *values, size_t n, double q) {
    qsort(values, n, sizeof *values, by_size);
    return values[(size_t)(q * (double)(n - 1) + 0.5)];
}

double stats_confidence(size_t intervals) {
    return 1 - 0.05 / (double)(intervals ? intervals : 1);
}

/* P(the k-th smallest is above the median) = P(Binomial(n, 1/2) < k); the two tails together must
 * not exceed 1 - confidence. Logarithms keep large n from underflowing. */
size_t stats_rank(size_t n, double confidence) {
    double log_term = -(double)n * log(2), tail = 0, allowed = (1 - confidence) / 2;
    size_t k = 0;
    for (; k < n / 2; k++) {
        tail += exp(log_term); /* P(exactly k below) */
        if (tail > allowed) break;
        log_term += log((double)(n - k)) - log((double)(k + 1));
    }
    return k;
}

estimate stats_median(double *values, size_t n, double confidence) {
    estimate e = {NAN, -INFINITY, INFINITY};
    if (n == 0) return e;
    qsort(values, n, sizeof *values, by_size);
    e.median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    size_t k = stats_rank(n, confidence);
    if (k > 0) e.low = values[k - 1], e.high = values[n - k];
    return e;
}

double stats_mean(const double *v, size_t n, double *squares) {
    double mean = 0;
    for (size_t i = 0; i < n; i++) mean += v[i] / (double)n;
    for (size_t i = 0; i < n; i++) *squares += (v[i] - mean) * (v[i] - mean);
    return mean;
}

estimate stats_middle(double *values, size_t n) {
    static const double student[] = {12.71, 4.303, 3.183, 2.777}; /* its 0.975-quantiles */
    estimate e = stats_median(values, n, 0.95);
    double squares = 0;
    if (n < 2 || stats_rank(n, 0.95) > 0) return e;
    const double mean = stats_mean(values, n, &squares);
    const double half = student[n - 2] * sqrt(squares / (double)(n - 1) / (double)n);
    return (estimate){e.median, mean - half, mean + half};
}

estimate stats_difference(const double *a, size_t na, const double *b, size_t nb) {
    static const double student[] = {9.925, 5.841, 4.605, 4.033, 3.708, 3.500, 3.356}; /* 0.995 */
    const size_t freedom = na + nb - 2, last = sizeof student / sizeof *student + 1;
    double squares = 0;
    const double d = stats_mean(b, nb, &squares) - stats_mean(a, na, &squares);
    const double t = student[(freedom < last ? freedom : last) - 2];
    const double half = t * sqrt(squares / (double)freedom * (1 / (double)na + 1 / (double)nb));
    return (estimate){d, d - half, d + half};
}

const char *comparison_name(comparison c) {
    static const char *const names[] = {"FASTER", "SLOWER", "SAME", "NOT RESOLVED"};
    return names[c];
}

double stats_band(estimate log_ratio) {
    return fmax(fabs(log_ratio.low), fabs(log_ratio.high));
}

comparison stats_verdict(estimate r, double band, double margin) {
    if (r.low >= -margin && r.high <= margin && band <= margin) return SAME;
    if (r.high < -band) return FASTER;
    if (r.low > band) return SLOWER;
    return NOT_RESOLVED;
}

bool stats_impossible(estimate log_ratio, double band, double margin) {
    return -log_ratio.high > margin + band;
}

/* Interval and band shrink as 1 / sqrt(rounds). Counts the rounds until they are apart (a
 * difference) or both fit inside the margin (SAME), whichever comes first. */
size_t stats_rounds_to_go(estimate r, double band, double margin, size_t n) {
    if (stats_verdict(r, band, margin) != NOT_RESOLVED) return 0;
    double half = (r.high - r.low) / 2, distance = fabs(r.median);
    double to_differ = distance > 0 ? (half + band) / distance : INFINITY;
    double to_agree =
        distance < margin ? fmax(half / (margin - distance), band / margin) : INFINITY;
    double factor = fmin(to_differ, to_agree), rounds = (double)n * (factor * factor - 1);
    return rounds < 1 ? 1 : rounds < 1e9 ? (size_t)rounds : (size_t)1e9;
}
