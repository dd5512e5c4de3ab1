/* Compiles one loop over all rows for each layer and storage type. A file defines all_rows() and
 * includes this header; run_rows() calls the instance for a problem. Instances are separate
 * functions, because compilers take more than twice the time for a function of twice the size.
 * SPDX-License-Identifier: MIT */
#pragma once

/* The common case: gamma and (LayerNorm) beta, no residual, and equally spaced rows. These facts
 * are compile-time constants, so the loops contain no branches on them. */
NL_INLINE void common_rows(const rows_call *call, nl_dtype t, bool centred, bool plus_one,
                           bool cast) {
    row_recipe q = *call->q;
    nl_view v = nl_view_of(call->p, call->a);
    assume(v.gamma && (!centred || v.beta));
    if (!centred) v.beta = NULL;
    take_steps(&v);
    v.residual = v.residual_out = NULL;
    v.cast_before_weight = cast, v.t = t, v.plus_one = plus_one, q.centred = centred;
    all_rows(v, q);
}

/* All other cases: the loops test for each vector which arrays exist; rows are not pipelined. */
NL_INLINE void general_rows(const rows_call *call, nl_dtype t, bool centred) {
    row_recipe q = *call->q;
    nl_view v = nl_view_of(call->p, call->a);
    q.pipelined = false, q.centred = centred, v.t = t;
    all_rows(v, q);
}

static void layernorm_f32(const rows_call *call) {
    common_rows(call, NL_F32, true, false, false);
}
static void layernorm_f16(const rows_call *call) {
    common_rows(call, NL_F16, true, false, false);
}
static void layernorm_bf16(const rows_call *call) {
    common_rows(call, NL_BF16, true, false, false);
}
static void rmsnorm_f32(const rows_call *call) {
    common_rows(call, NL_F32, false, false, false);
}
static void rmsnorm_f16(const rows_call *call) {
    common_rows(call, NL_F16, false, false, false);
}
static void rmsnorm_bf16(const rows_call *call) {
    common_rows(call, NL_BF16, false, false, false);
}
static void plus_one_f32(const rows_call *call) {
    common_rows(call, NL_F32, false, true, false);
}
static void plus_one_f16(const rows_call *call) {
    common_rows(call, NL_F16, false, true, false);
}
static void plus_one_bf16(const rows_call *call) {
    common_rows(call, NL_BF16, false, true, false);
}
static void cast_f16(const rows_call *call) {
    common_rows(call, NL_F16, false, false, true);
}
static void cast_bf16(const rows_call *call) {
    common_rows(call, NL_BF16, false, false, true);
}
static void centred_f32(const rows_call *call) {
    general_rows(call, NL_F32, true);
}
static void centred_f16(const rows_call *call) {
    general_rows(call, NL_F16, true);
}
static void centred_bf16(const rows_call *call) {
    general_rows(call, NL_BF16, true);
}
static void uncentred_f32(const rows_call *call) {
    general_rows(call, NL_F32, false);
}
static void uncentred_f16(const rows_call *call) {
    general_rows(call, NL_F16, false);
}
static void uncentred_bf16(const rows_call *call) {
    general_rows(call, NL_BF16, false);
}

enum { LAYERNORM, RMSNORM, PLUS_ONE, CAST, CENTRED, UNCENTRED };
static rows_instance *const instances[][NL_DTYPES] = {
    [LAYERNORM] = {[NL_F32] = layernorm_f32, [NL_F16] = layernorm_f16, [NL_BF16] = layernorm_bf16},
    [RMSNORM] = {[NL_F32] = rmsnorm_f32, [NL_F16] = rmsnorm_f16, [NL_BF16] = rmsnorm_bf16},
    [PLUS_ONE] = {[NL_F32] = plus_one_f32, [NL_F16] = plus_one_f16, [NL_BF16] = plus_one_bf16},
    [CAST] = {[NL_F16] = cast_f16, [NL_BF16] = cast_bf16},
    [CENTRED] = {[NL_F32] = centred_f32, [NL_F16] = centred_f16, [NL_BF16] = centred_bf16},
    [UNCENTRED] = {[NL_F32] = uncentred_f32, [NL_F16] = uncentred_f16, [NL_BF16] = uncentred_bf16},
};

NL_INLINE void run_rows(const nl_problem *p, const nl_forward_args *a, const row_recipe *q) {
    const nl_layer *layer = &nl_layers[p->op];
    const bool cast = casts(p), rmsnorm = !layer->centred && !layer->plus_one;
    const bool common =
        a->gamma && !a->residual && (!cast || rmsnorm) && layer->centred == !!a->beta;
    int which = layer->centred ? CENTRED : UNCENTRED;
    if (common)
        which = layer->centred ? LAYERNORM : layer->plus_one ? PLUS_ONE : cast ? CAST : RMSNORM;
    const rows_call call = {p, a, q};
    if (common)
        run_common(instances[which][p->dtype], &call);
    else
        instances[which][p->dtype](&call);
}
