/* idea   gated_rmsnorm/backward in vectors, with exp in vector words. A row is read twice: for the
 *        sum of g * xhat and its terms of dgamma, then for dx and dgate. dgamma is first summed
 *        over ROWS rows, so that its error grows slowly with the number of rows.
 * gain   VLEN elements a step, and no call of expf.
 * fails  Computes exp in both readings; loads and stores dgamma's sums per row; uses one thread.
 * SPDX-License-Identifier: MIT */
#include "gated/gated.h"

enum { ROWS = 4 * VLEN }; /* rows of a partial sum of dgamma */

static const nl_threshold thresholds[] = {{NL_OF_C, VLEN}, {NL_OF_N, ROWS}, {0}};

/* The factors of an element's gradients. dn: the gradient of the norm's output; g: gain * dn. */
typedef struct terms {
    vf x, z, gain, dy, dn, silu, xhat;
    sigmoids s;
} terms;

NL_INLINE terms terms_of(nl_backward_view row, size_t i, size_t k) {
    terms t = {.x = vload(row.t, row.x, i, k),
               .z = vload(row.t, row.gate, i, k),
               .gain = vgain(row.gamma, false, i, k),
               .dy = vload(row.t, row.dy, i, k)};
    t.s = vsigmoids(t.z), t.silu = t.z * t.s.of;
    t.xhat = t.x * vset(*row.rstd), t.dn = t.dy * t.silu;
    if (row.gate_first) t.xhat = t.x * t.silu * vset(*row.rstd), t.dn = t.dy;
    return t;
}

NL_INLINE void add_to_dgamma(nl_backward_view v, float *some) {
    for (size_t i = 0; i < v.c; i += VLEN) {
        const size_t k = lanes_left(v.c, i);
        vstore(NL_F32, v.dgamma, i, k, vload(NL_F32, v.dgamma, i, k) + vload(NL_F32, some, i, k));
        vstore(NL_F32, some, i, k, vset(0));
    }
}

NL_INLINE void gated_row(nl_backward_view row, float *some, bool streams) {
    vf sum[4] = {vset(0), vset(0), vset(0), vset(0)};
    for (size_t i = 0; i < row.c; i += VLEN) {
        const size_t k = lanes_left(row.c, i);
        const terms t = terms_of(row, i, k);
        const vf term = t.gain * t.dn * t.xhat; /* in lanes past the end, xhat may be NaN */
        sum[i / VLEN % 4] += vkeep(term, k);
        if (row.dgamma) vstore(NL_F32, some, i, k, vfma(t.dn, t.xhat, vload(NL_F32, some, i, k)));
    }
    const vf mean_gx = vset(vsum((sum[0] + sum[2]) + (sum[1] + sum[3])) / (float)row.c);

    const size_t head = streams ? to_vector(row.t, row.dx) : 0;
    for (size_t i = 0, k = 0; i < row.c; i += k) {
        k = i < head && head < row.c ? head : lanes_left(row.c, i);
        const terms t = terms_of(row, i, k);
        const vf du = vset(*row.rstd) * (t.gain * t.dn - t.xhat * mean_gx);
        vf dx = du, by = t.gain * t.dy * t.xhat;
        if (row.gate_first) dx = du * t.silu, by = du * t.x;
        put_lanes(row.t, row.dx, i, k, dx, streams);
        if (!row.dgate) continue;
        vstore(row.t, row.dgate, i, k, by * vsilu_slope(t.z, t.s));
    }
}

NL_INLINE void gated_rows(nl_backward_view v, bool streams) {
    nl_clear_gradients(v);
    for (size_t i = 0; v.dgamma && i < v.c; i++) v.scratch[i] = 0;
    for (size_t r = 0; r < v.n; r++) {
        gated_row(nl_gated_backward_row(v, r), v.scratch, streams);
        if (v.dgamma && (r % ROWS == ROWS - 1 || r + 1 == v.n)) add_to_dgamma(v, v.scratch);
    }
    if (streams) vfence();
}

/* Calls gated_rows() with the storage type, the gate's order and the stores as constants. */
NL_INLINE void gated(nl_dtype t, const void *context) {
    const nl_backward_args *a = ((const gated_call *)context)->backward;
    nl_backward_view last = nl_backward_view_of(((const gated_call *)context)->p, a);
    const bool is_first = last.gate_first, streams = a->plan->streams;
    last.t = t, last.gate_first = false;
    nl_backward_view first = last;
    first.gate_first = true;
    if (streams)
        is_first ? gated_rows(first, true) : gated_rows(last, true);
    else
        is_first ? gated_rows(first, false) : gated_rows(last, false);
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)threads;
    nl_with_dtype(p->dtype, gated, &(gated_call){.p = p, .backward = a});
}

static size_t scratch(const nl_problem *p) {
    return p->c * sizeof(float);
}

NL_IMPL(.about = "the gradients in vectors, with an exp in vector words",
        .ops = NL_BIT(NL_GATED_RMSNORM) | NL_BIT(NL_GATE_FIRST_RMSNORM),
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .thresholds = thresholds,
        .strided = true, .heeds_stores = true, .method = NL_TWO_PASS, .lanes = 4 * VLEN,
        .backward = backward, .scratch = scratch);
