/* A forward problem as its kernel sees it. SPDX-License-Identifier: MIT */
#pragma once

#include "layer.h"
#include "strides.h"

/* The tensors of a forward problem, or one row of them. */
typedef struct nl_view {
    nl_dtype t;
    const void *x, *residual, *gate;
    void *y, *residual_out;
    const float *gamma, *beta;
    float *mean, *rstd, *running_mean, *running_var, *scratch;
    bool centred, plus_one, gate_first, cast_before_weight, biased_running_var, rounds_sum;
    size_t n, c, s, first_cache;
    float eps, momentum;
    size_t first;          /* strided: row 0 of this view is row `first` of the tensors */
    size_t x_step, y_step; /* elements from one row to the next, if rows is NULL */
    const nl_rows *rows;   /* strides; NULL: x_step and y_step */
} nl_view;

/* x_i plus the residual, as a float. */
NL_INLINE float nl_x(nl_view v, size_t i) {
    float x = nl_load(v.t, v.x, i);
    if (!v.residual) return x;
    x += nl_load(v.t, v.residual, i);
    return v.rounds_sum ? nl_round(v.t, x) : x;
}

/* The gain of feature j: gamma, or 1 + w. */
NL_INLINE float nl_gain(const float *gamma, bool plus_one, size_t j) {
    if (!gamma) return 1;
    return plus_one ? 1 + gamma[j] : gamma[j];
}

/* Stores y_i = gain_j * xhat + beta_j, rounded by p->casting, and residual_out_i if wanted. */
NL_INLINE void nl_put(nl_view v, size_t i, size_t j, float xhat) {
    if (v.residual_out) nl_store(v.t, v.residual_out, i, nl_x(v, i));
    float y = (v.cast_before_weight ? nl_round(v.t, xhat) : xhat) * nl_gain(v.gamma, v.plus_one, j);
    nl_store(v.t, v.y, i, v.beta ? y + v.beta[j] : y);
}

/* A view of row r of a row norm: i in nl_x(row, i) and nl_put_y(row, i, ...) is a column. */
NL_INLINE nl_view nl_row(nl_view v, size_t r) {
    const size_t size = nl_dtype_size(v.t), packed = r * v.c;
    size_t x = r * v.x_step, y = r * v.y_step, residual = packed, residual_out = packed;
    if (__builtin_expect(v.rows != NULL, false)) {
        const nl_rows *rows = v.rows;
        x = nl_row_at(rows, rows->x, v.first + r), y = nl_row_at(rows, rows->y, v.first + r);
        residual = nl_row_at(rows, rows->residual, v.first + r);
        residual_out = nl_row_at(rows, rows->residual_out, v.first + r);
    }
    v.x = (const char *)v.x + x * size, v.y = (char *)v.y + y * size;
    if (v.residual) v.residual = (const char *)v.residual + residual * size;
    if (v.residual_out) v.residual_out = (char *)v.residual_out + residual_out * size;
    if (v.mean) v.mean += r;
    if (v.rstd) v.rstd += r;
    return v;
}

NL_INLINE void nl_put_y(nl_view row, size_t i, float xhat) {
    nl_put(row, i, i, xhat);
}

/* Saves a row's statistics for backward, if the caller wants them. */
NL_INLINE void nl_keep(nl_view row, float mean, float rstd) {
    if (row.mean) *row.mean = mean;
    if (row.rstd) *row.rstd = rstd;
}

/* Do the unfused rungs store x + residual, or x as floats, before their first operation? If not,
 * their operations read x. */
NL_INLINE bool nl_stores_input(nl_view v) {
    return v.residual || v.t != NL_F32;
}

NL_INLINE float nl_input(nl_view v, const float *stored, size_t i) {
    return nl_stores_input(v) ? stored[i] : nl_load(v.t, v.x, i);
}

NL_INLINE void nl_store_input(nl_view v, float *stored) {
    if (!nl_stores_input(v)) return;
    for (size_t i = 0; i < v.n * v.c; i++) stored[i] = nl_x(v, i);
    if (!v.residual_out) return;
    for (size_t i = 0; i < v.n * v.c; i++) nl_store(v.t, v.residual_out, i, stored[i]);
}

/* The index of BatchNorm's element k of channel j in sample i. */
NL_INLINE size_t nl_at(nl_view v, size_t i, size_t j, size_t k) {
    return (i * v.c + j) * v.s + k;
}

/* Saves channel j's statistics for backward and updates the running statistics by momentum. */
NL_INLINE void nl_keep_channel(nl_view v, size_t j, float mean, float var, float rstd) {
    if (v.mean) v.mean[j] = mean;
    if (v.rstd) v.rstd[j] = rstd;
    if (!v.running_mean) return;
    float m = (float)(v.n * v.s), stored = v.biased_running_var ? var : var * (m / (m - 1));
    v.running_mean[j] = (1 - v.momentum) * v.running_mean[j] + v.momentum * mean;
    v.running_var[j] = (1 - v.momentum) * v.running_var[j] + v.momentum * stored;
}

NL_INLINE nl_view nl_view_of(const nl_problem *p, const nl_forward_args *a) {
    static const nl_plan none;
    const nl_plan *plan = a->plan ? a->plan : &none;
    return (nl_view){.t = p->dtype,
                     .x = a->x,
                     .residual = a->residual,
                     .gate = a->gate,
                     .y = a->y,
                     .residual_out = a->residual_out,
                     .gamma = a->gamma,
                     .beta = a->beta,
                     .mean = a->mean,
                     .rstd = a->rstd,
                     .running_mean = a->running_mean,
                     .running_var = a->running_var,
                     .scratch = a->scratch,
                     .centred = nl_layers[p->op].centred,
                     .plus_one = nl_layers[p->op].plus_one,
                     .gate_first = nl_layers[p->op].gate == NL_GATE_FIRST,
                     .cast_before_weight = p->casting == NL_CAST_BEFORE_WEIGHT,
                     .biased_running_var = p->biased_running_var,
                     .rounds_sum = p->sum == NL_SUM_ROUNDED,
                     .n = p->n,
                     .c = p->c,
                     .s = p->s,
                     .eps = p->eps,
                     .momentum = p->momentum,
                     .first_cache = plan->first_cache,
                     .rows = plan->rows,
                     .first = plan->first,
                     .x_step = p->c,
                     .y_step = p->c};
}

/* Advances a call's arguments by r rows. For strided tensors `first` advances instead of the
 * pointers. */
static inline void nl_skip_rows(const nl_problem *p, nl_forward_args *a, nl_plan *plan, size_t r) {
    const nl_view v = nl_row(nl_view_of(p, a), r);
    a->mean = v.mean, a->rstd = v.rstd;
    *plan = *a->plan, a->plan = plan;
    if (v.rows)
        plan->first += r;
    else
        a->x = v.x, a->residual = v.residual, a->y = v.y, a->residual_out = v.residual_out;
}

/* Calls kernel(view) with the storage type, and whether there is a residual, as constants. */
typedef void nl_view_kernel(nl_view v);
typedef struct nl_view_call {
    nl_view v;
    nl_view_kernel *kernel;
} nl_view_call;

NL_INLINE void nl_call_with_view(nl_dtype t, const void *context) {
    const nl_view_call *call = context;
    nl_view v = call->v, plain = v;
    v.t = plain.t = t, plain.residual = plain.residual_out = NULL;
    v.residual ? call->kernel(v) : call->kernel(plain);
}

NL_INLINE void nl_with_type(const nl_problem *p, const nl_forward_args *a, nl_view_kernel *kernel) {
    const nl_view_call call = {nl_view_of(p, a), kernel};
    nl_with_dtype(p->dtype, nl_call_with_view, &call);
}
