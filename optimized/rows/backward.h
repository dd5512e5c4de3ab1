/* The last part of a backward rung of the row norms. The rung defines `recipe` and its loop,
 * all_rows(), then includes this header, which compiles the loop for each layer and storage type,
 * as in instances.h. rows_backward() calls the instance. SPDX-License-Identifier: MIT */
#pragma once

/* g is a copy whose address does not escape: its fields stay in registers. Outlined code, which
 * needs an address, gets `outer`. */
NL_INLINE void rows_of(const gradients *outer, nl_dtype t, bool centred) {
    gradients g = *outer;
    backward_recipe q = recipe;
    g.v.t = t, q.centred = centred;
    all_rows(&g, outer, q);
}

static void layernorm_f32(const gradients *g) {
    rows_of(g, NL_F32, true);
}
static void layernorm_f16(const gradients *g) {
    rows_of(g, NL_F16, true);
}
static void layernorm_bf16(const gradients *g) {
    rows_of(g, NL_BF16, true);
}
static void rmsnorm_f32(const gradients *g) {
    rows_of(g, NL_F32, false);
}
static void rmsnorm_f16(const gradients *g) {
    rows_of(g, NL_F16, false);
}
static void rmsnorm_bf16(const gradients *g) {
    rows_of(g, NL_BF16, false);
}

typedef void rows_instance(const gradients *g);
static rows_instance *const instances[2][NL_DTYPES] = {
    {[NL_F32] = rmsnorm_f32, [NL_F16] = rmsnorm_f16, [NL_BF16] = rmsnorm_bf16},
    {[NL_F32] = layernorm_f32, [NL_F16] = layernorm_f16, [NL_BF16] = layernorm_bf16},
};

/* The body of a rung's backward(). */
static void rows_backward(const nl_problem *p, const nl_backward_args *a) {
    gradients g = {.v = nl_backward_view_of(p, a), .per_c = 1 / (double)p->c};
    begin_columns(&g, a->scratch, p->n > PIECE_ROWS);
    instances[g.v.centred][g.v.t](&g);
    end_columns(&g);
}
