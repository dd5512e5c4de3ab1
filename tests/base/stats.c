/* Compares the statistics with numbers worked by hand and with simulated noise.
 * SPDX-License-Identifier: MIT */
#include "base/random.h"
#include "base/stats.h"

#include <criterion/criterion.h>
#include <math.h>

/* Ranks of the sign test's interval at 95 and 99 %, from printed tables. */
Test(stats, ranks) {
    static const struct {
        size_t n;
        double confidence;
        size_t rank;
    } table[] = {{5, 0.95, 0},    {6, 0.95, 1},  {8, 0.95, 1},  {9, 0.95, 2},  {10, 0.95, 2},
                 {12, 0.95, 3},   {15, 0.95, 4}, {20, 0.95, 6}, {25, 0.95, 8}, {50, 0.95, 18},
                 {100, 0.95, 40}, {7, 0.99, 0},  {8, 0.99, 1},  {15, 0.99, 3}, {20, 0.99, 4},
                 {100, 0.99, 37}, {0, 0.95, 0},  {1, 0.95, 0}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t got = stats_rank(table[i].n, table[i].confidence);
        cr_expect(got == table[i].rank, "n = %zu at %g: rank %zu, should be %zu", table[i].n,
                  table[i].confidence, got, table[i].rank);
    }
}

Test(stats, median_by_hand) {
    double odd[] = {9, 1, 4, 7, 3, 8, 2, 6, 5}, even[] = {4, 1, 3, 2}, none[1];
    estimate e = stats_median(odd, 9, 0.95);
    cr_expect(e.median == 5 && e.low == 2 && e.high == 8, "%g in [%g, %g]", e.median, e.low,
              e.high);
    e = stats_median(even, 4, 0.95); /* four values cannot give 95 % */
    cr_expect(e.median == 2.5 && isinf(e.low) && isinf(e.high));
    e = stats_median(none, 0, 0.95);
    cr_expect(isnan(e.median) && isinf(e.low) && isinf(e.high));
}

Test(stats, correction) {
    cr_expect(fabs(stats_confidence(1) - 0.95) < 1e-15 && fabs(stats_confidence(5) - 0.99) < 1e-15);
}

Test(stats, verdicts) {
    static const struct {
        estimate r;
        double band, margin;
        comparison verdict;
    } table[] = {
        {{-0.10, -0.12, -0.08}, 0.01, 0.02, FASTER},
        {{0.10, 0.08, 0.12}, 0.01, 0.02, SLOWER},
        {{0.001, -0.01, 0.012}, 0.01, 0.02, SAME},
        {{0.010, 0.005, 0.015}, 0.001, 0.02, SAME},       /* differs by less than the margin */
        {{0.001, -0.03, 0.03}, 0.01, 0.02, NOT_RESOLVED}, /* too wide for a verdict */
        {{-0.10, -0.12, -0.08},
         0.09,
         0.02,
         NOT_RESOLVED}, /* the A/A band is wider than the margin */
        {{0.001, -0.01, 0.01}, 0.05, 0.02, NOT_RESOLVED},
        {{-0.5, -INFINITY, INFINITY}, 0.01, 0.02, NOT_RESOLVED},
        {{-0.5, -0.6, -0.4}, INFINITY, 0.02, NOT_RESOLVED},
        {{NAN, NAN, NAN}, 0.01, 0.02, NOT_RESOLVED},
        {{-0.5, -0.6, -0.4}, NAN, 0.02, NOT_RESOLVED},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        comparison got = stats_verdict(table[i].r, table[i].band, table[i].margin);
        cr_expect(got == table[i].verdict, "row %zu: %s, should be %s", i, comparison_name(got),
                  comparison_name(table[i].verdict));
    }
}

/* Nine tenths of the limit's time is impossible, unless noise explains it. */
Test(stats, impossible) {
    estimate faster = {log(0.9), log(0.89), log(0.91)};
    cr_expect(stats_impossible(faster, 0.01, 0.02));
    cr_expect(!stats_impossible(faster, 0.08, 0.02));
    cr_expect(!stats_impossible((estimate){0, -0.01, 0.01}, 0, 0));
    cr_expect(!stats_impossible((estimate){-1, -INFINITY, INFINITY}, 0, 0));
    cr_expect(!stats_impossible(faster, INFINITY, 0.02) && !stats_impossible(faster, NAN, 0));
}

/* The half-width 0.04 plus the band 0.02 must shrink by half, to 0.03. This takes four times as
 * many rounds. */
Test(stats, rounds_to_go) {
    estimate wide = {0.03, -0.01, 0.07}, clear = {0.5, 0.4, 0.6};
    cr_expect(stats_rounds_to_go(wide, 0.02, 0.001, 10) == 30);
    cr_expect(stats_rounds_to_go(clear, 0.02, 0.001, 10) == 0);
}

/* The noise of a pass: it has a tail on one side, and sometimes a slow state. */
static double pass_noise(uint64_t stream, uint64_t i) {
    return -0.01 * log(random_uniform(stream, 3 * i)) + 0.005 * random_normal(stream, 3 * i + 1) +
           (random_uniform(stream, 3 * i + 2) < 0.15 ? 0.05 : 0);
}

Test(stats, middle_by_hand) {
    double values[] = {3, 1, 2};
    estimate e = stats_middle(values, 3);
    cr_expect(e.median == 2 && fabs(e.high - 2 - 4.303 / sqrt(3)) < 1e-9 && e.low + e.high == 4);
    e = stats_middle(values, 1);
    cr_expect(e.median == 1 && isinf(e.low) && isinf(e.high));
    double six[] = {6, 1, 4, 2, 30, 5};
    e = stats_middle(six, 6);
    cr_expect(e.median == 4.5 && e.low == 1 && e.high == 30);
}

Test(stats, difference_by_hand) {
    const double a[] = {1, 2, 3}, b[] = {5, 7, 6};
    const estimate e = stats_difference(a, 3, b, 3);
    cr_expect(fabs(e.median - 4) < 1e-12 && fabs(e.high - 4 - 4.605 * sqrt(2.0 / 3)) < 1e-9 &&
              fabs(e.low + e.high - 8) < 1e-9);
}

/* Compares passes of one program with as many other passes of the same program. About 1 % of these
 * comparisons may find a difference. */
Test(stats, coverage_of_differences) {
    enum { POOLS = 20000, MOST = 9 };
    for (size_t n = 2; n <= MOST; n++) {
        size_t held = 0;
        for (uint64_t t = 0; t < POOLS; t++) {
            double v[2 * MOST];
            for (size_t i = 0; i < 2 * n; i++) v[i] = pass_noise(181 + n, t * 2 * MOST + i);
            const estimate e = stats_difference(v, n, v + n, n);
            held += e.low <= 0 && 0 <= e.high;
        }
        cr_expect(held >= 0.985 * POOLS, "%zu passes: %zu of %d", n, held, POOLS);
    }
}

/* Three passes on each side show a difference of 3 %, if passes differ by half a per cent. */
Test(stats, small_differences_are_found) {
    enum { POOLS = 20000 };
    size_t found = 0;
    for (uint64_t t = 0; t < POOLS; t++) {
        double v[6];
        for (size_t i = 0; i < 6; i++)
            v[i] = 0.005 * random_normal(191, 6 * t + i) + 0.03 * (i > 2);
        found += stats_verdict(stats_difference(v, 3, v + 3, 3), 0, 0.02) == SLOWER;
    }
    cr_expect(found >= 0.94 * POOLS, "%zu of %d", found, POOLS);
}

Test(stats, coverage_of_passes) {
    enum { MANY = 200001, POOLS = 20000, MOST = 12 };
    static double many[MANY];
    for (uint64_t i = 0; i < MANY; i++) many[i] = pass_noise(80, i);
    const double truth = stats_median(many, MANY, 0.95).median;
    for (size_t n = 3; n <= MOST; n++) {
        size_t held = 0;
        for (uint64_t t = 0; t < POOLS; t++) {
            double v[MOST];
            for (size_t i = 0; i < n; i++) v[i] = pass_noise(81 + n, t * MOST + i);
            const estimate e = stats_middle(v, n);
            held += e.low <= truth && truth <= e.high;
        }
        cr_expect(held >= 0.93 * POOLS, "%zu passes: %zu of %d", n, held, POOLS);
    }
}
