/* oneDNN's layer and batch normalization as implementations of the table. Code around them adds
 * missing features, as oneDNN's users must (docs/peers.md). SPDX-License-Identifier: MIT */
#include "layer.h"
#include "peers/onednn_primitive.h"
#include "peers/peers.h"
#include "registry.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static plan_key key_for(const nl_problem *p, int threads) {
    return (plan_key){.n = p->n,
                      .c = p->c,
                      .s = p->s,
                      .op = p->op,
                      .pass = p->pass,
                      .from = p->dtype,
                      .to = p->dtype,
                      .kind = dnnl_forward_inference,
                      .flags = nl_layers[p->op].centred ? 0 : RMS_NORM,
                      .eps = p->eps,
                      .threads = threads};
}

/* oneDNN accepts a float x with a 16-bit y, so x + residual stays in float. */
static const float *add_residual(const nl_problem *p, const nl_forward_args *a, plan *k) {
    size_t count = p->n * p->c;
    if (!k->x) k->x = malloc(count * sizeof *k->x);
    if (k->x) peer_sum(p, a, 0, count, k->x);
    return k->x;
}

/* oneDNN has no dresidual. If dx aliases dresidual, oneDNN writes dx to another buffer first. */
static void add_dresidual(const nl_problem *p, const nl_backward_args *a, const void *made) {
    const nl_backward_view v = nl_backward_view_of(p, a);
    for (size_t i = 0; i < p->n * p->c; i++) nl_put_dx(v, i, nl_load(v.t, made, i));
}

/* oneDNN saves the variance instead of rstd, and does not update running statistics. */
static void keep(const nl_problem *p, const nl_forward_args *a, size_t groups, const float *mean,
                 const float *var) {
    nl_view v = {.mean = a->mean,
                 .rstd = a->rstd,
                 .running_mean = a->running_mean,
                 .running_var = a->running_var,
                 .biased_running_var = p->biased_running_var,
                 .n = p->n,
                 .s = p->s,
                 .momentum = p->momentum};
    for (size_t g = 0; g < groups; g++)
        nl_keep_channel(v, g, mean ? mean[g] : 0, var[g], 1 / sqrtf(var[g] + p->eps));
}

static void forward_now(const nl_problem *p, const nl_forward_args *a, int threads) {
    plan_key w = key_for(p, threads);
    bool inference = p->pass == NL_INFERENCE;
    bool training = !inference && (nl_layers[p->op].running || a->mean || a->rstd);
    bool afterwards = p->casting == NL_CAST_BEFORE_WEIGHT && p->dtype != NL_F32;
    const float *gamma = afterwards ? NULL : a->gamma, *beta = afterwards ? NULL : a->beta;
    if (training) w.kind = dnnl_forward_training;
    if (inference) w.flags |= dnnl_use_global_stats;
    w.flags |= (gamma ? dnnl_use_scale : 0) | (beta ? dnnl_use_shift : 0);
    if (a->residual) w.from = NL_F32;

    plan *k = find_plan(&w);
    if (!k) return; /* y stays NaN, so the harness sees a failure */
    const float *mean = inference ? a->running_mean : NULL,
                *var = inference ? a->running_var : NULL;
    if (training) var = a->rstd ? a->rstd : k->statistics[0];
    if (training && nl_layers[p->op].centred) mean = a->mean ? a->mean : k->statistics[1];
    const void *x = a->residual ? add_residual(p, a, k) : a->x;
    const part parts[] = {{DNNL_ARG_SRC, PART_X, x},
                          {DNNL_ARG_DST, PART_TENSOR, a->y},
                          {DNNL_ARG_MEAN, PART_GROUPS, mean},
                          {DNNL_ARG_VARIANCE, PART_GROUPS, var},
                          {DNNL_ARG_SCALE, PART_CHANNELS, gamma},
                          {DNNL_ARG_SHIFT, PART_CHANNELS, beta}};
    if (!run_plan(k, parts, sizeof parts / sizeof *parts)) return;
    if (afterwards) peer_scale(p, a);
    if (training) keep(p, a, plan_groups(&w), mean, var);
}

static void backward_now(const nl_problem *p, const nl_backward_args *a, int threads) {
    plan_key w = key_for(p, threads);
    bool scale = a->gamma || a->dgamma;
    w.kind = scale || a->dbeta ? dnnl_backward : dnnl_backward_data;
    w.flags |= (scale ? dnnl_use_scale : 0) | (a->dbeta ? dnnl_use_shift : 0);

    plan *k = find_plan(&w);
    if (!k) return;
    float *var = k->statistics[0];
    for (size_t g = 0; g < plan_groups(&w); g++) var[g] = 1 / (a->rstd[g] * a->rstd[g]) - p->eps;
    const float *gamma = a->gamma || !scale ? a->gamma : k->ones;
    const float *dgamma = a->dgamma || !scale ? a->dgamma : k->unwanted;
    void *dx = a->dx;
    if (a->dresidual == dx && !k->x) k->x = malloc(p->n * p->c * sizeof *k->x);
    if (a->dresidual == dx && !(dx = k->x)) return;
    const float *beta = k->inputs == 6 ? k->ones : NULL; /* older versions require an unused beta */
    const part parts[] = {{DNNL_ARG_SRC, PART_X, a->x},
                          {DNNL_ARG_DIFF_DST, PART_TENSOR, a->dy},
                          {DNNL_ARG_DIFF_SRC, PART_TENSOR, dx},
                          {DNNL_ARG_MEAN, PART_GROUPS, a->mean},
                          {DNNL_ARG_VARIANCE, PART_GROUPS, var},
                          {DNNL_ARG_SCALE, PART_CHANNELS, gamma},
                          {DNNL_ARG_SHIFT, PART_CHANNELS, beta},
                          {DNNL_ARG_DIFF_SCALE, PART_CHANNELS, dgamma},
                          {DNNL_ARG_DIFF_SHIFT, PART_CHANNELS, a->dbeta}};
    if (run_plan(k, parts, sizeof parts / sizeof *parts) && a->dresidual) add_dresidual(p, a, dx);
}

/* oneDNN takes its number of threads from OpenMP, when a primitive is created and when it runs. */
static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    forward_now(p, a, threads);
    omp_set_num_threads(before);
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    backward_now(p, a, threads);
    omp_set_num_threads(before);
}

#define IMPL(layer, bit, more)                                                         \
    {                                                                                  \
        .name = "peer/onednn_" layer, .isa = "c", .ops = NL_BIT(bit),                  \
        .passes = NL_BIT(NL_FORWARD) | NL_BIT(NL_BACKWARD) | (more), .threaded = true, \
        .method = NL_TWO_PASS, .lanes = 1, .forward = forward, .backward = backward    \
    }
static nl_impl impls[] = {IMPL("batchnorm", NL_BATCHNORM, NL_BIT(NL_INFERENCE)),
                          IMPL("layernorm", NL_LAYERNORM, 0), IMPL("rmsnorm", NL_RMSNORM, 0)};
enum { IMPLS = sizeof impls / sizeof *impls };

/* Does oneDNN support all passes of this layer in this storage type, on this processor? */
static bool takes(const nl_impl *m, nl_op op, nl_dtype t, char name[64]) {
    for (nl_pass pass = 0; pass < NL_PASSES; pass++) {
        nl_problem p = {.op = op, .pass = pass, .dtype = t, .n = 64, .c = 64, .s = 1, .eps = 1e-5f};
        plan_key w = key_for(&p, 1);
        if (!(m->passes & NL_BIT(pass))) continue;
        w.kind = pass == NL_BACKWARD ? dnnl_backward : w.kind;
        if (pass == NL_INFERENCE) w.flags |= dnnl_use_global_stats;
        if (!onednn_has(&w, name)) return false;
    }
    return true;
}

void onednn_register(void (*note)(const char *text)) {
    static char about[IMPLS][160];
    static const nl_op ops[IMPLS] = {NL_BATCHNORM, NL_LAYERNORM, NL_RMSNORM};
    const dnnl_version_t *v = dnnl_version();
    char theirs[64];
    if (!one_openmp_runtime("oneDNN", note) || !onednn_start(note)) return;
    for (int i = 0; i < IMPLS; i++) {
        nl_impl *m = &impls[i];
        for (nl_dtype t = 0; t < NL_DTYPES; t++)
            if (takes(m, ops[i], t, theirs)) m->dtypes |= NL_BIT(t);
        if (!m->dtypes) continue;
        snprintf(about[i], sizeof about[i], "oneDNN %d.%d.%d, %s", v->major, v->minor, v->patch,
                 theirs);
        m->about = about[i];
        nl_registry_add(m);
    }
}
