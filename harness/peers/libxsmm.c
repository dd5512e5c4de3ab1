/* Row norms composed of LIBXSMM's primitives: for each row, one kernel sums x and x^2, and another
 * kernel computes the equation of y, as in LIBXSMM's sample equation_layernorm. Code around the
 * primitives adds missing features (docs/peers.md). SPDX-License-Identifier: MIT */
#include "layer.h"
#include "peers/peers.h"
#include "registry.h"

#include <libxsmm.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLANS = 64, ARGS = 5 };

/* The generated code for rows of one width. */
typedef struct plan {
    nl_op op;
    nl_dtype from, to;
    size_t c;
    bool gamma, beta;
    libxsmm_meltwfunction_unary sums;
    libxsmm_meqn_function y;
} plan;

static libxsmm_datatype type_of(nl_dtype t) {
    switch (t) {
    case NL_F32: return LIBXSMM_DATATYPE_F32;
    case NL_F16: return LIBXSMM_DATATYPE_F16;
    case NL_BF16: return LIBXSMM_DATATYPE_BF16;
    }
    __builtin_unreachable();
}

static void push_arg(libxsmm_blasint equation, int at, libxsmm_blasint length, nl_dtype t) {
    libxsmm_meqn_push_back_arg(
        libxsmm_create_meqn_arg_metadata(equation, at),
        libxsmm_create_meqn_arg_shape(length, 1, length, type_of(t)),
        libxsmm_create_matrix_arg_attributes(LIBXSMM_MATRIX_ARG_TYPE_SINGULAR,
                                             LIBXSMM_MATRIX_ARG_SET_TYPE_NONE, 0, 0));
}

/* y = (x * rstd - mean * rstd) * gamma + beta, without the terms that the layer lacks. */
static libxsmm_meqn_function y_of(const plan *k) {
    const bool centred = nl_layers[k->op].centred;
    const libxsmm_blasint equation = libxsmm_meqn_create(), c = (libxsmm_blasint)k->c;
    const libxsmm_meqn_op_metadata op = libxsmm_create_meqn_op_metadata(equation, -1);
    if (k->beta)
        libxsmm_meqn_push_back_ternary_op(op, LIBXSMM_MELTW_TYPE_TERNARY_MULADD,
                                          LIBXSMM_DATATYPE_F32,
                                          LIBXSMM_MELTW_FLAG_TERNARY_REUSE_IN_2_AS_OUT);
    else if (k->gamma)
        libxsmm_meqn_push_back_binary_op(op, LIBXSMM_MELTW_TYPE_BINARY_MUL, LIBXSMM_DATATYPE_F32,
                                         LIBXSMM_MELTW_FLAG_BINARY_NONE);
    if (centred)
        libxsmm_meqn_push_back_ternary_op(op, LIBXSMM_MELTW_TYPE_TERNARY_MULADD,
                                          LIBXSMM_DATATYPE_F32,
                                          LIBXSMM_MELTW_FLAG_TERNARY_BCAST_SCALAR_IN_1 |
                                              LIBXSMM_MELTW_FLAG_TERNARY_BCAST_SCALAR_IN_2 |
                                              LIBXSMM_MELTW_FLAG_TERNARY_REUSE_IN_2_AS_OUT);
    else
        libxsmm_meqn_push_back_binary_op(op, LIBXSMM_MELTW_TYPE_BINARY_MUL, LIBXSMM_DATATYPE_F32,
                                         LIBXSMM_MELTW_FLAG_BINARY_BCAST_SCALAR_IN_1);
    int at = 0;
    push_arg(equation, at++, c, k->from);
    push_arg(equation, at++, 1, NL_F32);
    if (centred) push_arg(equation, at++, 1, NL_F32);
    if (k->gamma) push_arg(equation, at++, c, NL_F32);
    if (k->beta) push_arg(equation, at++, c, NL_F32);
    return libxsmm_dispatch_meqn(equation, libxsmm_create_meqn_arg_shape(c, 1, c, type_of(k->to)));
}

static libxsmm_meltwfunction_unary sums_of(const plan *k) {
    const libxsmm_blasint c = (libxsmm_blasint)k->c;
    return libxsmm_dispatch_meltw_unary(nl_layers[k->op].centred
                                            ? LIBXSMM_MELTW_TYPE_UNARY_REDUCE_X_X2_OP_ADD
                                            : LIBXSMM_MELTW_TYPE_UNARY_REDUCE_X2_OP_ADD,
                                        libxsmm_create_meltw_unary_shape(c, 1, c, 1,
                                                                         type_of(k->from),
                                                                         LIBXSMM_DATATYPE_F32,
                                                                         LIBXSMM_DATATYPE_F32),
                                        LIBXSMM_MELTW_FLAG_UNARY_REDUCE_ROWS);
}

/* The cached plan. The first call, in verification (not timed), generates the code. */
static const plan *find_plan(const plan *wanted) {
    static plan plans[PLANS];
    static size_t next;
    for (plan *k = plans; k < plans + PLANS; k++)
        if (k->y && k->op == wanted->op && k->from == wanted->from && k->to == wanted->to &&
            k->c == wanted->c && k->gamma == wanted->gamma && k->beta == wanted->beta)
            return k;
    plan made = *wanted;
    made.sums = sums_of(&made), made.y = y_of(&made);
    if (!made.sums || !made.y) return NULL;
    plan *k = &plans[next++ % PLANS];
    *k = made;
    return k;
}

/* Returns *kept, enlarged to `wanted` floats: either [c] ones (a gain, if there is only a shift) or
 * [threads][c] sums of x + residual. */
static float *keep(float **kept, size_t *size, size_t wanted, float value) {
    if (*size < wanted) {
        free(*kept);
        *kept = malloc(wanted * sizeof **kept), *size = *kept ? wanted : 0;
        for (size_t i = 0; i < *size; i++) (*kept)[i] = value;
    }
    return *kept;
}

static void row(const nl_problem *p, const nl_forward_args *a, const plan *k, const float *gamma,
                const float *beta, float *sum, size_t r) {
    const size_t at = r * p->c, bytes = nl_dtype_size(p->dtype);
    const void *x = (const char *)a->x + at * bytes;
    if (sum) {
        peer_sum(p, a, at, p->c, sum);
        x = sum;
    }
    float sums[2] = {0}, mean = 0;
    k->sums(&(libxsmm_meltw_unary_param){.in.primary = (void *)x, .out.primary = sums});
    const bool centred = nl_layers[p->op].centred;
    if (centred) mean = sums[0] / p->c;
    const float square = sums[centred] / p->c - mean * mean;
    float rstd = 1 / sqrtf((square > 0 || square != square ? square : 0) + p->eps);
    float shift = -mean * rstd;
    if (a->mean) a->mean[r] = mean;
    if (a->rstd) a->rstd[r] = rstd;

    libxsmm_matrix_arg args[ARGS] = {{.primary = (void *)x}, {.primary = &rstd}};
    int count = 2;
    if (centred) args[count++].primary = &shift;
    if (gamma) args[count++].primary = (void *)gamma;
    if (beta) args[count++].primary = (void *)beta;
    k->y(&(libxsmm_meqn_param){.inputs = args, .output.primary = (char *)a->y + at * bytes});
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    static float *ones, *sums;
    static size_t ones_size, sums_size;
    const bool afterwards = p->casting == NL_CAST_BEFORE_WEIGHT && p->dtype != NL_F32;
    const float *beta = afterwards ? NULL : a->beta, *gamma = afterwards ? NULL : a->gamma;
    if (beta && !gamma && !(gamma = keep(&ones, &ones_size, p->c, 1))) return;
    if (a->residual && !keep(&sums, &sums_size, p->c * (size_t)threads, 0)) return;
    const plan *k = find_plan(&(plan){.op = p->op,
                                      .from = a->residual ? NL_F32 : p->dtype,
                                      .to = p->dtype,
                                      .c = p->c,
                                      .gamma = gamma,
                                      .beta = beta});
    if (!k) return; /* y stays NaN, so the harness sees a failure */
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (size_t r = 0; r < p->n; r++)
        row(p, a, k, gamma, beta, a->residual ? sums + p->c * (size_t)omp_get_thread_num() : NULL,
            r);
    if (afterwards) peer_scale(p, a);
}

#define IMPL(layer, op)                                                                    \
    {                                                                                      \
        .name = "peer/libxsmm_" layer, .isa = "c", .ops = NL_BIT(op),                      \
        .passes = NL_BIT(NL_FORWARD), .threaded = true, .method = NL_ONE_PASS, .lanes = 1, \
        .forward = forward                                                                 \
    }
static nl_impl impls[] = {IMPL("layernorm", NL_LAYERNORM), IMPL("rmsnorm", NL_RMSNORM)};

void libxsmm_register(void (*note)(const char *text)) {
    static const nl_op ops[] = {NL_LAYERNORM, NL_RMSNORM};
    static char about[80];
    (void)note;
    libxsmm_init();
    snprintf(about, sizeof about, "LIBXSMM %d.%d.%d's primitives, for %s", LIBXSMM_VERSION_MAJOR,
             LIBXSMM_VERSION_MINOR, LIBXSMM_VERSION_UPDATE, libxsmm_get_target_arch());
    for (size_t i = 0; i < sizeof impls / sizeof *impls; i++) {
        for (nl_dtype t = 0; t < NL_DTYPES; t++)
            if (find_plan(&(plan){ops[i], t, t, 64, true, nl_layers[ops[i]].beta, NULL, NULL}))
                impls[i].dtypes |= NL_BIT(t);
        impls[i].about = about;
        if (impls[i].dtypes) nl_registry_add(&impls[i]);
    }
}
