/* A backward problem as its kernel sees it. SPDX-License-Identifier: MIT */
#ifndef NL_BACKWARD_VIEW_H
#define NL_BACKWARD_VIEW_H

#include "view.h"

/* The tensors of a backward problem, or one row of them. x is what was normalized. */
typedef struct nl_backward_view {
    nl_dtype t;
    const void *x, *dy, *dresidual;
    void *dx;
    const float *gamma, *mean, *rstd;
    float *dgamma, *dbeta, *scratch;
    bool centred, plus_one;
    size_t n, c, s;
    float eps;
    size_t first;        /* of strided rows */
    const nl_rows *rows; /* NULL: they follow each other */
} nl_backward_view;

/* Adds the distances of row r to the pointers. */
NL_INLINE nl_backward_view nl_strided_backward_row(nl_backward_view v, size_t r) {
    const size_t size = nl_dtype_size(v.t);
    r += v.first;
    v.x = (const char *)v.x + nl_row_at(v.rows, v.rows->x, r) * size;
    v.dy = (const char *)v.dy + nl_row_at(v.rows, v.rows->dy, r) * size;
    v.dx = (char *)v.dx + nl_row_at(v.rows, v.rows->y, r) * size;
    if (v.dresidual)
        v.dresidual = (const char *)v.dresidual + nl_row_at(v.rows, v.rows->residual, r) * size;
    return v;
}

NL_INLINE nl_backward_view nl_packed_backward_row(nl_backward_view v, size_t r) {
    const size_t bytes = r * v.c * nl_dtype_size(v.t);
    v.x = (const char *)v.x + bytes, v.dy = (const char *)v.dy + bytes;
    v.dx = (char *)v.dx + bytes;
    if (v.dresidual) v.dresidual = (const char *)v.dresidual + bytes;
    return v;
}

/* Row r of a row norm; dgamma and dbeta belong to all rows. */
NL_INLINE nl_backward_view nl_backward_row(nl_backward_view v, size_t r) {
    const bool packed = __builtin_expect(!v.rows, true);
    v = packed ? nl_packed_backward_row(v, r) : nl_strided_backward_row(v, r);
    if (v.mean) v.mean += r;
    v.rstd += r;
    return v;
}

NL_INLINE nl_backward_view nl_backward_view_of(const nl_problem *p, const nl_backward_args *a) {
    const nl_plan *plan = a->plan;
    nl_backward_view v = {.t = p->dtype,
                          .x = a->x,
                          .dy = a->dy,
                          .dresidual = a->dresidual,
                          .dx = a->dx,
                          .gamma = a->gamma,
                          .mean = a->mean,
                          .rstd = a->rstd,
                          .dgamma = a->dgamma,
                          .dbeta = a->dbeta,
                          .scratch = a->scratch,
                          .centred = nl_layers[p->op].centred,
                          .plus_one = nl_layers[p->op].plus_one,
                          .n = p->n,
                          .c = p->c,
                          .s = p->s,
                          .eps = p->eps};
    if (!plan) return v;
    v.rows = plan->rows, v.first = plan->first;
    if (!plan->first) return v;
    if (!v.rows) v = nl_packed_backward_row(v, plan->first);
    if (v.mean) v.mean += plan->first;
    v.rstd += plan->first;
    return v;
}

/* g_i of a row: gain_i * dy_i. */
NL_INLINE float nl_g(nl_backward_view row, size_t i) {
    return nl_gain(row.gamma, row.plus_one, i) * nl_load(row.t, row.dy, i);
}

/* Stores dx_i, plus the gradient that bypasses the layer. */
NL_INLINE void nl_put_dx(nl_backward_view v, size_t i, float dx) {
    if (v.dresidual) dx += nl_load(v.t, v.dresidual, i);
    nl_store(v.t, v.dx, i, dx);
}

/* Sets dgamma and dbeta to zero, where the caller wants them. */
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

#endif
