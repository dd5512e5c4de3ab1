/* idea   Gated RMSNorm in vectors, with an exp of their words (gated/silu.h): two readings of a row,
 *        for the sum of the squares and for y. With the gate first, x * silu(gate) is kept as floats
 *        between them, so that an exp is computed once.
 * gain   Beside gated_rmsnorm/naive: VLEN elements a step, and no call of expf.
 * fails  With the gate last, the exp waits for the second reading, where it takes longer than the
 *        rest; large outputs go through the caches, and one thread does it all.
 * SPDX-License-Identifier: MIT */
#include "gated/silu.h"

enum { STEP = 4 * VLEN };

static const nl_threshold thresholds[] = {{NL_OF_C, VLEN}, {NL_OF_C, STEP}, {0}};

/* x of the norm, in so many lanes; kept if the gate is part of it. */
NL_INLINE vf read(nl_view row, float *kept, size_t i, size_t k) {
    vf x = vload(row.t, row.x, i, k);
    if (!row.gate_first) return x;
    x *= vsilu(vload(row.t, row.gate, i, k));
    vstore(NL_F32, kept, i, k, x);
    return x;
}

NL_INLINE void gated_row(nl_view row, float *kept) {
    vf a = vset(0), b = a, c = a, d = a;
    size_t i = 0;
    for (; i + STEP <= row.c; i += STEP) {
        const vf p = read(row, kept, i, VLEN), q = read(row, kept, i + VLEN, VLEN);
        const vf s = read(row, kept, i + 2 * VLEN, VLEN), t = read(row, kept, i + 3 * VLEN, VLEN);
        a = vfma(p, p, a), b = vfma(q, q, b), c = vfma(s, s, c), d = vfma(t, t, d);
    }
    for (; i < row.c; i += VLEN) {
        const vf p = read(row, kept, i, row.c - i < VLEN ? row.c - i : VLEN);
        a = vfma(p, p, a);
    }
    const float rstd = 1 / sqrtf(vsum((a + c) + (b + d)) / (float)row.c + row.eps);
    nl_keep(row, 0, rstd);

    for (i = 0; i < row.c; i += VLEN) {
        const size_t k = row.c - i < VLEN ? row.c - i : VLEN;
        vf y = row.gate_first ? vload(NL_F32, kept, i, k) : vload(row.t, row.x, i, k);
        y *= vset(rstd);
        if (row.cast_before_weight) y = vround(row.t, y);
        if (row.gamma) y *= vload(NL_F32, row.gamma, i, k);
        if (!row.gate_first) y *= vsilu(vload(row.t, row.gate, i, k));
        vstore(row.t, row.y, i, k, y);
    }
}

NL_INLINE void gated_rows(nl_view v) {
    for (size_t r = 0; r < v.n; r++) gated_row(nl_gated_row(v, r), v.scratch);
}

/* The order as a constant. */
NL_INLINE void gated(nl_view v) {
    nl_view last = v, first = v;
    last.gate_first = false, first.gate_first = true;
    v.gate_first ? gated_rows(first) : gated_rows(last);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, gated);
}

static size_t scratch(const nl_problem *p) {
    return p->op == NL_GATE_FIRST_RMSNORM ? p->c * sizeof(float) : 0;
}

NL_IMPL(.about = "two readings in vectors, with an exp in vector words",
        .ops = NL_BIT(NL_GATED_RMSNORM) | NL_BIT(NL_GATE_FIRST_RMSNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = thresholds,
        .strided = true, .method = NL_TWO_PASS, .lanes = 4 * VLEN, .forward = forward,
        .scratch = scratch);
