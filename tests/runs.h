/* Runs of the reference on easy and hard data and shapes. SPDX-License-Identifier: MIT */
#pragma once

#include "reference.h"
#include "support.h"

enum { MAX = 256, MAX_GROUP = 64 };
typedef struct run {
    nl_problem p;
    double x[MAX], residual[MAX], dy[MAX], gate[MAX];
    const double *dresidual; /* [MAX], or NULL */
    float gamma[MAX], beta[MAX], running_mean[MAX], running_var[MAX];
    bool fused; /* x + residual is normalized */
    struct {
        double xhat[MAX], sum[MAX], dx[MAX], dx_scale[MAX];
        long double mean[MAX], var[MAX], rstd[MAX], magnitude[MAX];
        long double running_mean[MAX], running_var[MAX];
        long double dgamma[MAX], dgamma_scale[MAX], dbeta[MAX], dbeta_scale[MAX];
        double silu[MAX], slope_scale[MAX], dgate[MAX], dgate_scale[MAX];
    } out;
} run;

static inline bool compute(run *r, nl_pass pass, int threads) {
    ref_inputs in = {.x = r->x,
                     .residual = r->fused ? r->residual : NULL,
                     .dy = r->dy,
                     .dresidual = r->dresidual,
                     .gate = is_gated(&r->p) ? r->gate : NULL,
                     .gamma = r->gamma,
                     .beta = r->beta,
                     .running_mean = r->running_mean,
                     .running_var = r->running_var};
    ref_outputs out = {r->out.xhat,  r->out.sum,         r->out.mean,         r->out.var,
                       r->out.rstd,  r->out.magnitude,   r->out.running_mean, r->out.running_var,
                       r->out.dx,    r->out.dx_scale,    r->out.dgamma,       r->out.dgamma_scale,
                       r->out.dbeta, r->out.dbeta_scale, r->out.silu,         r->out.slope_scale,
                       r->out.dgate, r->out.dgate_scale};
    r->p.pass = pass;
    return ref_compute(&r->p, &in, &out, threads);
}

static inline double silu(double z) {
    return z / (1 + exp(-z));
}

/* The factor of xhat[i] in y. */
static inline double gain(const run *r, size_t i) {
    double gamma = r->gamma[feature(&r->p, i)];
    if (r->p.op == NL_GATED_RMSNORM) gamma *= silu(r->gate[i]);
    return has_plus_one(&r->p) ? 1 + gamma : gamma;
}

static inline bool near(long double got, long double want, long double error) {
    return fabsl(got - want) <= error; /* false for a NaN */
}

/* A kind of data: x is mean + sigma * z, the residual is sigma * z. */
struct kind {
    const char *name;
    double mean, sigma;
    float eps;
    bool signs; /* z is +-1 */
};

/* A nearly normal number, and a multiple of 2^-15, so that sums and steps of gamma are exact. */
static inline double random_z(uint64_t *seed) {
    uint64_t u = random_bits(seed);
    u = (u & 65535) + (u >> 16 & 65535) + (u >> 32 & 65535) + (u >> 48);
    return ((double)u - 131070) / 32768;
}

/* Fills a run. False: the layer does not have this shape. */
static inline bool fill(run *r, nl_op op, const struct kind *kind, const size_t shape[3]) {
    uint64_t seed = 3, gates = 5;
    bool batch = op == NL_BATCHNORM;
    *r = (run){.fused = !batch && shape[0] != 3 && op < NL_GATED_RMSNORM,
               .p = {.op = op, .momentum = 0.3f}};
    r->p.n = shape[0], r->p.c = shape[1], r->p.s = shape[2], r->p.eps = kind->eps;
    for (size_t i = 0; i < shape[0] * shape[1] * shape[2]; i++) {
        double z = kind->signs ? i % 5 < 2 ? 1 : -1 : random_z(&seed);
        r->x[i] = (float)(kind->mean + kind->sigma * z);
        r->residual[i] = (float)(kind->sigma * random_z(&seed));
        r->dy[i] = 0.5 + random_z(&seed);
        r->gate[i] = (float)(0.1 + 1.5 * random_z(&gates));
    }
    double var = kind->sigma < 1e-15  ? 1e-30
                 : kind->sigma > 1e15 ? 1e30
                                      : kind->sigma * kind->sigma;
    for (size_t j = 0; j < shape[1]; j++) {
        r->gamma[j] = (float)(1 + random_z(&seed) / 4), r->beta[j] = (float)random_z(&seed);
        r->running_mean[j] = (float)(kind->mean + kind->sigma * random_z(&seed));
        r->running_var[j] = (float)(var * (3 + random_z(&seed) / 2));
    }
    return batch || shape[2] == 1;
}

static const struct kind kinds[] = {
    {"normal", 0, 1, 1e-5f, false},
    {"no eps", 0.5, 1, 0, false},
    {"mean 2^8 sigma", 256, 1, 1e-5f, false},
    {"mean 2^22 sigma", 0x1p22, 1, 1e-12f, false},
    {"mean -2^22 * 1e24", -0x1p22 * 1e24, 1e24, 1, false},
    {"1e30", 0, 1e30, 1e-5f, false},
    {"+-1e30", 0, 1e30, 1e-6f, true},
    {"subnormal", 0, 0x1p-140, 1e-12f, false},
    {"subnormal, no eps", 0, 0x1p-140, 0, false},
    {"eps 1e-12", 0x1p-20, 0x1p-20, 1e-12f, false},
};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const size_t shapes[4][3] = {{3, 37, 1}, {2, 2, 1}, {5, 3, 7}, {37, 3, 1}};
