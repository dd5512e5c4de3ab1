/* The gate of gated RMSNorm, silu(z) = z * sigmoid(z), and the views of gated rows.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernel.h"

/* 1 / (1 + exp(-z)), computed from exp(-|z|), which cannot overflow. */
NL_INLINE float nl_sigmoid(float z) {
    float e = expf(-fabsf(z));
    return (z < 0 ? e : 1) / (1 + e);
}

NL_INLINE float nl_silu(float z) {
    return z * nl_sigmoid(z);
}

/* The derivative of silu. Uses sigmoid(-z) for 1 - sigmoid(z), which would cancel. */
NL_INLINE float nl_silu_slope(float z) {
    return nl_sigmoid(z) * (1 + z * nl_sigmoid(-z));
}

/* The offsets in bytes of row r in gate and in dgate. */
NL_INLINE size_t nl_gate_at(nl_dtype t, const nl_rows *rows, size_t first, size_t r, size_t c) {
    return (rows ? nl_row_at(rows, rows->residual, first + r) : r * c) * nl_dtype_size(t);
}

NL_INLINE size_t nl_dgate_at(nl_dtype t, const nl_rows *rows, size_t first, size_t r, size_t c) {
    return (rows ? nl_row_at(rows, rows->residual_out, first + r) : r * c) * nl_dtype_size(t);
}

NL_INLINE nl_view nl_gated_row(nl_view v, size_t r) {
    nl_view row = nl_row(v, r);
    row.gate = (const char *)v.gate + nl_gate_at(v.t, v.rows, v.first, r, v.c);
    return row;
}

NL_INLINE nl_backward_view nl_gated_backward_row(nl_backward_view v, size_t r) {
    nl_backward_view row = nl_backward_row(v, r);
    row.gate = (const char *)v.gate + nl_gate_at(v.t, v.rows, v.first, r, v.c);
    if (v.dgate) row.dgate = (char *)v.dgate + nl_dgate_at(v.t, v.rows, v.first, r, v.c);
    return row;
}
