/* idea   The formula with a gate, silu(z) = z / (1 + exp(-z)), in either order: as a factor of the
 *        normalized value, or of x before the norm.
 * gain   None; every other rung is compared with this rung.
 * fails  With the gate first, silu is computed twice for each element. A call of expf takes longer
 *        than the rest of an element's arithmetic.
 * SPDX-License-Identifier: MIT */
#include "gate.h"

NL_INLINE void gated(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_gated_row(v, r);

        float mean_square = 0;
        for (size_t i = 0; i < v.c; i++) {
            float x = nl_x(row, i);
            if (v.gate_first) x *= nl_silu(nl_load(v.t, row.gate, i));
            mean_square += x * x;
        }
        mean_square /= v.c;

        for (size_t i = 0; i < v.c; i++) {
            float silu = nl_silu(nl_load(v.t, row.gate, i));
            float x = v.gate_first ? nl_x(row, i) * silu : nl_x(row, i);
            float xhat = x / sqrtf(mean_square + v.eps);
            if (v.cast_before_weight) xhat = nl_round(v.t, xhat);
            float y = xhat * nl_gain(v.gamma, false, i);
            nl_store(v.t, row.y, i, v.gate_first ? y : y * silu);
        }
        nl_keep(row, 0, 1 / sqrtf(mean_square + v.eps));
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, gated);
}

NL_IMPL(.about = "the formula with its gate, in either order",
        .ops = NL_BIT(NL_GATED_RMSNORM) | NL_BIT(NL_GATE_FIRST_RMSNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .strided = true,
        .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
