/* A kernel's view of a backward problem. SPDX-License-Identifier: MIT */
#pragma once

#include "view.h"

/* The tensors of a backward problem, or one row of them. x is the input that forward normalized. */
typedef struct nl_backward_view {
    nl_dtype t;
    const void *x, *dy, *dresidual, *gate;
    void *dx, *dgate;
    const float *gamma, *mean, *rstd;
    float *dgamma, *dbeta, *scratch;
    bool centred, plus_one, gate_first;
    size_t n, c, s;
    float eps;
    size_t first;        /* strided: row 0 of this view is row `first` of the tensors */
    const nl_rows *rows; /* strides; NULL: no gaps between rows */
} nl_backward_view;

/* The view of row r of a row norm. All rows share dgamma and dbeta. */
NL_INLINE nl_backward_view nl_backward_row(nl_backward_view v, size_t r) {
    const size_t size = nl_dtype_size(v.t), packed = r * v.c;
    size_t x = packed, dy = packed, dx = packed, dresidual = packed;
    if (__builtin_expect(v.rows != NULL, false)) {
        const nl_rows *rows = v.rows;
        x = nl_row_at(rows, rows->x, v.first + r), dy = nl_row_at(rows, rows->dy, v.first + r);
        dx = nl_row_at(rows, rows->y, v.first + r);
        dresidual = nl_row_at(rows, rows->residual, v.first + r);
    }
    v.x = (const char *)v.x + x * size, v.dy = (const char *)v.dy + dy * size;
    v.dx = (char *)v.dx + dx * size;
    if (v.dresidual) v.dresidual = (const char *)v.dresidual + dresidual * size;
    if (v.mean) v.mean += r;
    v.rstd += r;
    return v;
}

NL_INLINE nl_backward_view nl_backward_view_of(const nl_problem *p, const nl_backward_args *a) {
    static const nl_plan none;
    const nl_plan *plan = a->plan ? a->plan : &none;
    return (nl_backward_view){.t = p->dtype,
                              .x = a->x,
                              .dy = a->dy,
                              .dresidual = a->dresidual,
                              .gate = a->gate,
                              .dx = a->dx,
                              .dgate = a->dgate,
                              .gamma = a->gamma,
                              .mean = a->mean,
                              .rstd = a->rstd,
                              .dgamma = a->dgamma,
                              .dbeta = a->dbeta,
                              .scratch = a->scratch,
                              .centred = nl_layers[p->op].centred,
                              .plus_one = nl_layers[p->op].plus_one,
                              .gate_first = nl_layers[p->op].gate == NL_GATE_FIRST,
                              .n = p->n,
                              .c = p->c,
                              .s = p->s,
                              .eps = p->eps,
                              .rows = plan->rows,
                              .first = plan->first};
}

/* Advances a call's arguments by r rows, as nl_skip_rows() does. */
static inline void nl_skip_backward_rows(const nl_problem *p, nl_backward_args *a, nl_plan *plan,
                                         size_t r) {
    const nl_backward_view v = nl_backward_row(nl_backward_view_of(p, a), r);
    a->mean = v.mean, a->rstd = v.rstd;
    *plan = *a->plan, a->plan = plan;
    if (v.rows)
        plan->first += r;
    else
        a->x = v.x, a->dy = v.dy, a->dx = v.dx, a->dresidual = v.dresidual;
}

/* g_i of a row: gain_i * dy_i. */
NL_INLINE float nl_g(nl_backward_view row, size_t i) {
    return nl_gain(row.gamma, row.plus_one, i) * nl_load(row.t, row.dy, i);
}

/* Stores dx_i, plus dresidual_i if the caller passed a dresidual. */
NL_INLINE void nl_put_dx(nl_backward_view v, size_t i, float dx) {
    if (v.dresidual) dx += nl_load(v.t, v.dresidual, i);
    nl_store(v.t, v.dx, i, dx);
}

/* Sets dgamma and dbeta to zero, if the caller wants them. */
NL_INLINE void nl_clear_gradients(nl_backward_view v) {
    for (size_t j = 0; v.dgamma && j < v.c; j++) v.dgamma[j] = 0;
    for (size_t j = 0; v.dbeta && j < v.c; j++) v.dbeta[j] = 0;
}

/* Calls kernel(view) with the storage type as a constant. */
typedef void nl_backward_kernel(nl_backward_view v);
typedef struct nl_backward_call {
    nl_backward_view v;
    nl_backward_kernel *kernel;
} nl_backward_call;

NL_INLINE void nl_call_with_backward_view(nl_dtype t, const void *context) {
    const nl_backward_call *call = context;
    nl_backward_view v = call->v;
    v.t = t;
    call->kernel(v);
}

NL_INLINE void nl_backward_with_type(const nl_problem *p, const nl_backward_args *a,
                                     nl_backward_kernel *kernel) {
    const nl_backward_call call = {nl_backward_view_of(p, a), kernel};
    nl_with_dtype(p->dtype, nl_call_with_backward_view, &call);
}
