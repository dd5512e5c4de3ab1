/* idea   Finds the largest of |x| and sqrt(eps), then sums (x / scale)^2; scale is that number
 *        rounded down to a power of two. No square can overflow, no square that matters can
 *        underflow, and dividing by scale is exact. hypot() scales two numbers in this way.
 * gain   Correct over all of float's range, from subnormals to 1e38. No gain in speed.
 * fails  Reads x three times, and divides in two of these readings: the price of the range.
 * SPDX-License-Identifier: MIT */
#include "kernel.h"

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);

        float root_eps = sqrtf(v.eps), largest = root_eps;
        for (size_t i = 0; i < v.c; i++) largest = fmaxf(largest, fabsf(nl_x(row, i)));
        bool usual = largest > 0 && !isinf(largest); /* zeros and Inf: scale = 1 is right */
        float scale = usual ? ldexpf(1, ilogbf(largest)) : 1;

        float squares = 0;
        for (size_t i = 0; i < v.c; i++) {
            float t = nl_x(row, i) / scale;
            squares += t * t;
        }
        float t = root_eps / scale;
        float root = sqrtf(squares / v.c + t * t); /* the rms of x / scale */

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, nl_x(row, i) / scale / root);
        nl_keep(row, 0, 1 / root / scale);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

NL_IMPL(.about = "max |x| first, then the scaled sum: safe over float's range",
        .ops = NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_ALL_DTYPES, .range_safe = true, .strided = true, .method = NL_TWO_PASS,
        .lanes = 1, .forward = forward);
