/* LayerNorm, RMSNorm and Qwen2RMSNorm in vector words, one row after the other. A rung calls
 * rows_forward() with its recipe (row_statistics.h), which is inlined for each layer and storage
 * type with these as constants. SPDX-License-Identifier: MIT */
#ifndef NL_ROWS_H
#define NL_ROWS_H

#include "row_lines.h"

enum { ROW_NORMS = NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM) };

static const nl_threshold row_thresholds[] = {{NL_OF_C, VLEN},  {NL_OF_C, 16},
                                              {NL_OF_C, STEP},  {NL_OF_C, SUM_BLOCK},
                                              {NL_OF_C, PIECE}, {0}};

NL_INLINE void all_rows(nl_view v, row_recipe q) {
    if (q.streaming && are_wide(v, q)) {
        wide_rows(v, q);
        return;
    }
    const nl_view whole = v;
    const double per_c = 1 / (double)v.c;
    row_ends ends;
    if (q.streaming) ends = row_ends_of(v);
    stats s = {0};
    bool known = false; /* s is this row's */
    for (size_t r = 0; r < v.n; r++) {
        const nl_view row = nl_row(v, r), next = nl_row(v, r + 1);
        if (!known) s = row_stats(&whole, r, per_c, q);
        known = q.pipelined && r + 1 < v.n && v.c <= PIECE && !s.in_double;
        if (s.in_double) {
            in_double(&whole, r, q.centred);
            continue;
        }
        nl_keep(row, s.m + s.c, s.rstd);
        if (known) {
            const float guess = guess_mean(next, per_c, q);
            const totals sums = put_row_and_sum(row, s, next, guess, q);
            s = stats_from(&whole, r + 1, per_c, guess, sums, q);
        } else if (q.streaming) {
            put_row_in_lines(row, &ends, s, q, true);
        } else {
            put_row(row, s, q);
        }
    }
    if (!q.streaming) return;
    put_waiting(&ends.line);
    vfence();
}

typedef struct rows_call {
    nl_view v;
    row_recipe q;
} rows_call;

NL_INLINE void assume(bool fact) {
    if (!fact) __builtin_unreachable();
}

/* The common case: gamma and (LayerNorm) beta, and nothing else. These facts are compile-time
 * constants, so the loops contain no branches on them. */
NL_INLINE void common_rows(nl_dtype t, const void *context) {
    const row_recipe q = ((const rows_call *)context)->q;
    nl_view v = ((const rows_call *)context)->v;
    assume(v.gamma && (!q.centred || v.beta));
    if (!q.centred) v.beta = NULL;
    v.residual = v.residual_out = NULL;
    v.cast_before_weight = false, v.t = t;
    all_rows(v, q);
}

/* All other cases: tests per vector which arrays there are, and is never pipelined. */
NL_INLINE void general_rows(nl_dtype t, const void *context) {
    row_recipe q = ((const rows_call *)context)->q;
    nl_view v = ((const rows_call *)context)->v;
    q.pipelined = false, v.t = t;
    all_rows(v, q);
}

NL_INLINE void common_types(nl_view v, bool centred, bool plus_one, row_recipe q) {
    q.centred = centred, v.plus_one = plus_one;
    const rows_call call = {v, q};
    nl_with_dtype(v.t, common_rows, &call);
}

NL_INLINE void general_types(nl_view v, bool centred, row_recipe q) {
    q.centred = centred;
    const rows_call call = {v, q};
    nl_with_dtype(v.t, general_rows, &call);
}

NL_INLINE void rows_in_general(nl_view v, row_recipe q) {
    if (v.centred)
        general_types(v, true, q);
    else
        general_types(v, false, q);
}

/* The body of a rung's forward(). */
NL_INLINE void rows_forward(const nl_problem *p, const nl_forward_args *a, row_recipe q) {
    const nl_view v = nl_view_of(p, a);
    if (!v.gamma || v.residual || v.cast_before_weight || v.centred != !!v.beta)
        rows_in_general(v, q);
    else if (v.centred)
        common_types(v, true, false, q);
    else if (v.plus_one)
        common_types(v, false, true, q);
    else
        common_types(v, false, false, q);
}

#endif
