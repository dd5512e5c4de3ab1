/* idea   RMSNorm's gradient and the product rule. Gate last: in RMSNorm's gradient dy * silu(z)
 *        replaces dy, and dz = dy * gain * xhat * silu'(z). Gate first: the norm's input is
 *        u = x * silu(z), and its gradient du gives dx = du * silu(z) and dz = du * x * silu'(z).
 * gain   None; every other rung is compared with this rung.
 * fails  Four calls of expf for each element.
 * SPDX-License-Identifier: MIT */
#include "gate.h"

NL_INLINE void gated(nl_backward_view v) {
    nl_clear_gradients(v);
    for (size_t r = 0; r < v.n; r++) {
        nl_backward_view row = nl_gated_backward_row(v, r);

        float rstd = *row.rstd, mean_gx = 0;
        for (size_t i = 0; i < v.c; i++) {
            float x = nl_load(v.t, row.x, i), dy = nl_load(v.t, row.dy, i);
            float silu = nl_silu(nl_load(v.t, row.gate, i));
            float xhat = (v.gate_first ? x * silu : x) * rstd, dn = v.gate_first ? dy : dy * silu;
            mean_gx += nl_gain(v.gamma, false, i) * dn * xhat;
            if (v.dgamma) v.dgamma[i] += dn * xhat;
        }
        mean_gx /= v.c;

        for (size_t i = 0; i < v.c; i++) {
            float x = nl_load(v.t, row.x, i), dy = nl_load(v.t, row.dy, i);
            float z = nl_load(v.t, row.gate, i), silu = nl_silu(z);
            float gain = nl_gain(v.gamma, false, i);
            float xhat = (v.gate_first ? x * silu : x) * rstd, dn = v.gate_first ? dy : dy * silu;
            float du = rstd * (gain * dn - xhat * mean_gx);
            float dz = (v.gate_first ? du * x : gain * dy * xhat) * nl_silu_slope(z);
            nl_store(v.t, row.dx, i, v.gate_first ? du * silu : du);
            if (v.dgate) nl_store(v.t, row.dgate, i, dz);
        }
    }
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    nl_backward_with_type(p, a, gated);
}

NL_IMPL(.about = "RMSNorm's gradient, and the gate's by the product rule",
        .ops = NL_BIT(NL_GATED_RMSNORM) | NL_BIT(NL_GATE_FIRST_RMSNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_ALL_DTYPES, .strided = true,
        .method = NL_TWO_PASS, .lanes = 1, .backward = backward);
