/* ONNX Runtime's layers as implementations of the table. Code around the layers adds missing
 * features (docs/peers.md). SPDX-License-Identifier: MIT */
#include "peers/onnxruntime_session.h"
#include "peers/peers.h"
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ONES, ZEROS, MEANS, X, Y, PARAMETERS, KEPT = PARAMETERS + 4 };

/* Returns one of the cached arrays, with at least `size` floats. The arrays are a gain of ones, a
 * shift of zeros, unwanted means, 16-bit x and y as floats, the last gamma and its 16-bit values,
 * and the last beta and its 16-bit values. */
static float *keep(int which, size_t size) {
    static struct {
        float *at;
        size_t size;
    } all[KEPT];
    if (all[which].size >= size) return all[which].at;
    free(all[which].at);
    float *at = all[which].at = malloc(size * sizeof *at);
    all[which].size = at ? size : 0;
    for (size_t i = 0; at && i < size; i++) at[i] = which == ONES;
    return at;
}

/* Kernels get float parameters, but the node needs parameters of x's type. Converts the parameters,
 * unless they equal the last call's. NULL: x's type cannot hold a value exactly. */
static const void *narrow(const nl_problem *p, nl_arg which, const float *from) {
    static struct {
        nl_dtype t;
        size_t c;
        bool fits;
    } all[2];
    const int i = which == NL_BETA;
    float *last = keep(PARAMETERS + 2 * i, p->c), *to = keep(PARAMETERS + 2 * i + 1, p->c);
    if (!last || !to) return NULL;
    if (all[i].t == p->dtype && all[i].c == p->c && !memcmp(last, from, p->c * sizeof *from))
        return all[i].fits ? to : NULL;
    memcpy(last, from, p->c * sizeof *from);
    all[i].t = p->dtype, all[i].c = p->c, all[i].fits = true;
    for (size_t j = 0; j < p->c; j++) {
        nl_store(p->dtype, to, j, from[j]);
        all[i].fits &= nl_load(p->dtype, to, j) == from[j];
    }
    return all[i].fits ? to : NULL;
}

/* x, or x + residual, in floats. ONNX Runtime has residuals only in nodes outside ONNX's standard.
 * These nodes need a weight of x's type. */
static const float *widen(const nl_problem *p, const nl_forward_args *a) {
    const size_t count = p->n * p->c;
    float *x = keep(X, count);
    if (x && a->residual) peer_sum(p, a, 0, count, x);
    for (size_t i = 0; x && !a->residual && i < count; i++) x[i] = nl_load(p->dtype, a->x, i);
    return x;
}

/* The node's type: the tensors' type, if this type holds the parameters and there is no residual;
 * else float. */
static nl_dtype choose_type(const nl_problem *p, const nl_forward_args *a, const void **gamma,
                            const void **beta) {
    if (p->dtype == NL_F32 || a->residual) return NL_F32;
    const void *g = narrow(p, NL_GAMMA, *gamma), *b = *beta ? narrow(p, NL_BETA, *beta) : NULL;
    if (!g || (*beta && !b)) return NL_F32;
    *gamma = g, *beta = b;
    return p->dtype;
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    const bool batch = p->op == NL_BATCHNORM, centred = nl_layers[p->op].centred;
    const bool afterwards = p->casting == NL_CAST_BEFORE_WEIGHT && p->dtype != NL_F32;
    const void *gamma = a->gamma && !afterwards ? a->gamma : keep(ONES, p->c);
    const void *beta = batch && !a->beta ? keep(ZEROS, p->c) : afterwards ? NULL : a->beta;
    const float *mean = a->mean || !centred || !a->rstd ? a->mean : keep(MEANS, p->n);
    if (!gamma) return;
    nl_problem node = *p;
    node.dtype = node.parameters = choose_type(p, a, &gamma, &beta);
    const bool converted = node.dtype != p->dtype;
    const void *x = converted || a->residual ? widen(p, a) : a->x;
    void *y = converted ? keep(Y, p->n * p->c) : a->y;
    if (!x || !y) return;
    const part parts[] = {{"x", NL_TENSOR, false, x},
                          {"gamma", NL_PARAMETERS, false, gamma},
                          {"beta", NL_PARAMETERS, false, beta},
                          {"running_mean", NL_FEATURES, false, batch ? a->running_mean : NULL},
                          {"running_var", NL_FEATURES, false, batch ? a->running_var : NULL},
                          {"y", NL_TENSOR, true, y},
                          {"mean", NL_GROUPS, true, batch ? NULL : mean},
                          {"rstd", NL_GROUPS, true, batch ? NULL : a->rstd}};
    if (!run_parts(&node, parts, sizeof parts / sizeof *parts, threads)) return;
    for (size_t i = 0; converted && i < p->n * p->c; i++)
        nl_store(p->dtype, a->y, i, ((float *)y)[i]);
    if (afterwards) peer_scale(p, a);
}

/* ONNX Runtime before 1.32 has no kernel for bf16. */
static bool takes(nl_op op, nl_dtype t) {
    float x = 0, gamma = 0, y;
    const nl_problem p =
        {.op = op, .n = 1, .c = 1, .s = 1, .dtype = t, .parameters = t, .eps = 1e-5f};
    const part parts[] = {{"x", NL_TENSOR, false, &x},
                          {"gamma", NL_PARAMETERS, false, &gamma},
                          {"y", NL_TENSOR, true, &y}};
    return run_parts(&p, parts, sizeof parts / sizeof *parts, 1);
}

/* Short rows and bf16 of LayerNorm take Welford's method, others two passes (onnxruntime#31973). */
#define IMPL(layer, op, pass)                                                                     \
    {                                                                                             \
        .name = "peer/onnxruntime_" layer, .isa = "c", .ops = NL_BIT(op), .passes = NL_BIT(pass), \
        .dtypes = NL_BIT(NL_F32), .threaded = true, .method = NL_WELFORD, .lanes = 1,             \
        .forward = forward                                                                        \
    }
static nl_impl impls[] = {[NL_BATCHNORM] = IMPL("batchnorm", NL_BATCHNORM, NL_INFERENCE),
                          [NL_LAYERNORM] = IMPL("layernorm", NL_LAYERNORM, NL_FORWARD),
                          [NL_RMSNORM] = IMPL("rmsnorm", NL_RMSNORM, NL_FORWARD)};

void onnxruntime_register(void (*note)(const char *text)) {
    static char about[80];
    const char *version = onnxruntime_start(note);
    if (!version) return;
    snprintf(about, sizeof about, "ONNX Runtime %s, its C interface", version);
    for (nl_op op = 0; op < sizeof impls / sizeof *impls; op++) {
        for (nl_dtype t = NL_F16; op != NL_BATCHNORM && t < NL_DTYPES; t++)
            if (takes(op, t)) impls[op].dtypes |= NL_BIT(t);
        impls[op].about = about;
        nl_registry_add(&impls[op]);
    }
}
