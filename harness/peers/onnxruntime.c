/* ONNX Runtime's layers as implementations of the table. Code around them does what they lack:
 * docs/peers.md. SPDX-License-Identifier: MIT */
#include "peers/onnxruntime_session.h"
#include "peers/peers.h"
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>

enum { ONES, ZEROS, SUM, MEANS, KEPT };

/* [size] cached floats: a gain of ones, a shift of zeros, x + residual, unwanted means. */
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

/* ONNX Runtime has a residual only in nodes outside ONNX's standard, and these need a weight. */
static const float *add_residual(const nl_problem *p, const nl_forward_args *a) {
    float *sum = keep(SUM, p->n * p->c);
    if (sum) peer_sum(NL_F32, a, 0, p->n * p->c, sum);
    return sum;
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    const bool batch = p->op == NL_BATCHNORM, centred = nl_layers[p->op].centred;
    const float *gamma = a->gamma ? a->gamma : keep(ONES, p->c);
    const float *beta = a->beta || !batch ? a->beta : keep(ZEROS, p->c);
    const void *x = a->residual ? add_residual(p, a) : a->x;
    const float *mean = a->mean || !centred || !a->rstd ? a->mean : keep(MEANS, p->n);
    if (!gamma || !x) return;
    const part parts[] = {{"x", NL_TENSOR, false, x},
                          {"gamma", NL_FEATURES, false, gamma},
                          {"beta", NL_FEATURES, false, beta},
                          {"running_mean", NL_FEATURES, false, batch ? a->running_mean : NULL},
                          {"running_var", NL_FEATURES, false, batch ? a->running_var : NULL},
                          {"y", NL_TENSOR, true, a->y},
                          {"mean", NL_GROUPS, true, batch ? NULL : mean},
                          {"rstd", NL_GROUPS, true, batch ? NULL : a->rstd}};
    run_parts(p, parts, sizeof parts / sizeof *parts, threads);
}

#define IMPL(layer, op, pass)                                                                     \
    {                                                                                             \
        .name = "peer/onnxruntime_" layer, .isa = "c", .ops = NL_BIT(op), .passes = NL_BIT(pass), \
        .dtypes = NL_BIT(NL_F32), .threaded = true, .method = NL_TWO_PASS, .lanes = 1,            \
        .forward = forward                                                                        \
    }
static nl_impl impls[] = {IMPL("batchnorm", NL_BATCHNORM, NL_INFERENCE),
                          IMPL("layernorm", NL_LAYERNORM, NL_FORWARD),
                          IMPL("rmsnorm", NL_RMSNORM, NL_FORWARD)};

void onnxruntime_register(void (*note)(const char *text)) {
    static char about[80];
    const char *version = onnxruntime_start(note);
    if (!version) return;
    snprintf(about, sizeof about, "ONNX Runtime %s, its C interface", version);
    for (size_t i = 0; i < sizeof impls / sizeof *impls; i++) {
        impls[i].about = about;
        nl_registry_add(&impls[i]);
    }
}
