/* idea   Gated RMSNorm in vectors, with exp in vector words (gated/silu.h). A row is read twice:
 *        for the sum of the squares, then for y. With the gate first, floats of x * silu(gate) are
 *        kept between the readings, so that exp is computed once.
 * gain   VLEN elements a step and no call of expf, unlike gated_rmsnorm/naive; a y that leaves the
 *        caches is streamed.
 * fails  With the gate last, the second reading waits for exp, which takes longer than all other
 *        work. Uses one thread.
 * SPDX-License-Identifier: MIT */
#include "gated/gated.h"

enum { STEP = 4 * VLEN };

static const nl_threshold thresholds[] = {{NL_OF_C, VLEN}, {NL_OF_C, STEP}, {0}};

/* k lanes of the norm's input, also stored in `kept` if the gate comes first. */
NL_INLINE vf read(nl_view row, float *kept, size_t i, size_t k) {
    vf x = vload(row.t, row.x, i, k);
    if (!row.gate_first) return x;
    x *= vsilu(vload(row.t, row.gate, i, k));
    vstore(NL_F32, kept, i, k, x);
    return x;
}

NL_INLINE void gated_row(nl_view row, float *kept, bool streams) {
    vf a = vset(0), b = a, c = a, d = a;
    size_t i = 0;
    for (; i + STEP <= row.c; i += STEP) {
        const vf p = read(row, kept, i, VLEN), q = read(row, kept, i + VLEN, VLEN);
        const vf s = read(row, kept, i + 2 * VLEN, VLEN), t = read(row, kept, i + 3 * VLEN, VLEN);
        a = vfma(p, p, a), b = vfma(q, q, b), c = vfma(s, s, c), d = vfma(t, t, d);
    }
    for (; i < row.c; i += VLEN) {
        const vf p = read(row, kept, i, lanes_left(row.c, i));
        a = vfma(p, p, a);
    }
    const float rstd = 1 / sqrtf(vsum((a + c) + (b + d)) / (float)row.c + row.eps);
    nl_keep(row, 0, rstd);

    const size_t head = streams ? to_vector(row.t, row.y) : 0;
    for (size_t k = i = 0; i < row.c; i += k) {
        k = i < head && head < row.c ? head : lanes_left(row.c, i);
        vf y = row.gate_first ? vload(NL_F32, kept, i, k) : vload(row.t, row.x, i, k);
        y *= vset(rstd);
        if (row.cast_before_weight) y = vround(row.t, y);
        if (row.gamma) y *= vload(NL_F32, row.gamma, i, k);
        if (!row.gate_first) y *= vsilu(vload(row.t, row.gate, i, k));
        put_lanes(row.t, row.y, i, k, y, streams);
    }
}

NL_INLINE void gated_rows(nl_view v, bool streams) {
    const bool up = !overlap_in_place(&v);
    for (size_t r = 0; r < v.n; r++)
        gated_row(nl_gated_row(v, up ? r : v.n - 1 - r), v.scratch, streams);
    if (streams) vfence();
}

/* Calls gated_rows() with the storage type, the gate's order and the stores as constants. */
NL_INLINE void gated(nl_dtype t, const void *context) {
    const nl_forward_args *a = ((const gated_call *)context)->forward;
    nl_view last = nl_view_of(((const gated_call *)context)->p, a);
    const bool is_first = last.gate_first, streams = a->plan->streams;
    last.t = t, last.gate_first = false, last.residual = last.residual_out = NULL;
    nl_view first = last;
    first.gate_first = true;
    if (streams)
        is_first ? gated_rows(first, true) : gated_rows(last, true);
    else
        is_first ? gated_rows(first, false) : gated_rows(last, false);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_dtype(p->dtype, gated, &(gated_call){.p = p, .forward = a});
}

static size_t scratch(const nl_problem *p) {
    return p->op == NL_GATE_FIRST_RMSNORM ? p->c * sizeof(float) : 0;
}

NL_IMPL(.about = "two readings in vectors, with an exp in vector words",
        .ops = NL_BIT(NL_GATED_RMSNORM) | NL_BIT(NL_GATE_FIRST_RMSNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = thresholds,
        .strided = true, .heeds_stores = true, .method = NL_TWO_PASS, .lanes = 4 * VLEN,
        .forward = forward, .scratch = scratch);
