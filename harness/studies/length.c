/* Every norm has a sum of squares. How fast does the sum's rounding error grow with the row's
 * length? Sums the same values in seven ways and compares each result with a compensated double sum
 * of the exact squares. SPDX-License-Identifier: MIT */
#include "base/random.h"
#include "base/stats.h"
#include "studies/study.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST = 4, MAX = 22, ROWS_MAX = 31 }; /* lengths are powers of two */

/* Adds to `count` sums in turn, like the lanes of a vector, then reduces them by halves. */
static float lanes(const float *x, size_t n, size_t count) {
    float sums[64] = {0};
    for (size_t i = 0; i < n; i++) sums[i % count] += x[i] * x[i];
    for (size_t half = count / 2; half; half /= 2)
        for (size_t k = 0; k < half; k++) sums[k] += sums[k + half];
    return sums[0];
}

static float pairwise(const float *x, size_t n) {
    return n == 1 ? x[0] * x[0] : pairwise(x, n / 2) + pairwise(x + n / 2, n - n / 2);
}

/* Kahan, "Further remarks on reducing truncation errors", 1965: corrects the next term by the
 * rounding error of an addition. */
static float compensated(const float *x, size_t n) {
    float sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        float term = x[i] * x[i] - lost, next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    return sum;
}

static float in_double(const float *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * x[i];
    return (float)sum;
}

static const struct method {
    const char *name;
    size_t lanes; /* 0: sum() adds */
    float (*sum)(const float *x, size_t n);
} methods[] = {{"1 accumulator", 1, NULL}, {"8 lanes", 8, NULL},
               {"16 lanes", 16, NULL},     {"64 lanes", 64, NULL},
               {"pairwise", 0, pairwise},  {"compensated", 0, compensated},
               {"double", 0, in_double}};
enum { METHODS = sizeof methods / sizeof *methods };

/* Exact sum: a float's square is exact in double, and two doubles hold the sum (Neumaier 1974). */
typedef struct truth {
    double sum, lost;
} truth;

static void add_square(truth *t, double x) {
    double term = x * x, next = t->sum + term;
    t->lost += t->sum >= term ? (t->sum - next) + term : (term - next) + t->sum;
    t->sum = next;
}

static bool run(study_out *o, bool quick) {
    size_t most = quick ? 18 : MAX, rows = quick ? 15 : ROWS_MAX;
    float *x = malloc(sizeof *x << most);
    static double errors[MAX + 1][METHODS][ROWS_MAX];
    for (size_t r = 0; x && r < rows;
         r++) { /* row r of a length is a prefix of row r of longer lengths */
        truth t = {0, 0};
        study_progress(o, r, rows, "length");
        for (size_t k = LEAST, i = 0; k <= most; k++) {
            size_t c = (size_t)1 << k;
            for (; i < c; i++) add_square(&t, x[i] = (float)random_normal(r, i));
            for (size_t m = 0; m < METHODS; m++) {
                const struct method *way = &methods[m];
                double got = way->lanes ? lanes(x, c, way->lanes) : way->sum(x, c);
                double miss = (got - t.sum) - t.lost;
                errors[k][m][r] = fabs(miss) / (t.sum * 0x1p-24);
            }
        }
    }
    for (size_t m = 0; x && m < METHODS; m++)
        for (size_t k = LEAST; k <= most; k++) {
            double *e = errors[k][m], c = ldexp(1, (int)k);
            char panel[32];
            snprintf(panel, sizeof panel, "median of %zu rows", rows);
            study_point(o, panel, methods[m].name, c, stats_median(e, rows, 0.95).median);
            snprintf(panel, sizeof panel, "largest of %zu rows", rows);
            study_point(o, panel, methods[m].name, c, e[rows - 1]); /* sorted by now */
        }
    bool enough = x != NULL;
    free(x);
    return enough;
}

const study study_length =
    {"length", "How does the error of a sum of squares grow with the length of the row?", run};
