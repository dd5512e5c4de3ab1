/* The cost of BatchNorm's statistics: noise as a function of the batch size, the gap between
 * training and inference, two conventions for momentum, and padding. Padding does not affect the
 * row norms. Panels that end in ", expected" are theory. SPDX-License-Identifier: MIT */
#include "base/random.h"
#include "layer.h"
#include "studies/study.h"

#include "normlab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* PROBES: number of batches that measure the gap after the running statistics have settled. */
enum { C = 128, MAX_ROWS = 2520, BATCHES = 128, PROBES = 16, SMALL = 32 };

static const float eps = 1e-5f;

/* Buffers for one batch; next counts the random numbers drawn. */
typedef struct room {
    float *x, *y, *other;
    size_t next;
} room;

typedef struct running {
    float mean[C], var[C];
} running;

/* n rows of normal numbers around mean. */
static void draw(room *r, size_t n, double mean) {
    for (size_t i = 0; i < n * C; i++) r->x[i] = (float)(mean + random_normal(1, r->next++));
}

/* Normalizes x into y, and updates the running statistics *to unless NULL. */
static bool norm(const nl_problem *problem, const float *x, float *y, running *to) {
    nl_problem p = *problem;
    p.c = C, p.s = 1, p.eps = eps;
    nl_forward_args a = {.x = x, .y = y};
    if (to) a.running_mean = to->mean, a.running_var = to->var;
    return nl_forward(NULL, &p, &a, 1) == NL_OK;
}

static double rms(const double sum, size_t n) {
    return sqrt(sum / (double)n);
}

/* Emits the noise of a batch's statistics (n rows, momentum 1), and the gap between training and
 * inference with running statistics (momentum 0.1). */
static bool noise(study_out *o, room *r, size_t n, bool biased) {
    const char *name = biased ? "variance, biased" : "variance, unbiased";
    nl_problem p = {.op = NL_BATCHNORM, .n = n, .momentum = 1, .biased_running_var = biased};
    running batch = {0}, slow = {0};
    for (size_t j = 0; j < C; j++) slow.var[j] = 1;
    double mean = 0, var = 0, off = 0, gap = 0;
    r->next = 0; /* both variances get the same random numbers */
    for (int b = 0; b < BATCHES; b++) {
        draw(r, n, 0);
        p.momentum = 1;
        if (!norm(&p, r->x, r->y, &batch)) return false;
        p.momentum = 0.1f;
        if (!norm(&p, r->x, r->y, &slow)) return false;
        for (size_t j = 0; j < C; j++) {
            mean += batch.mean[j] * batch.mean[j], var += batch.var[j];
            off += (batch.var[j] - 1) * (batch.var[j] - 1);
        }
    }
    for (int b = 0; b < PROBES; b++) {
        draw(r, n, 0);
        nl_problem inference = p;
        inference.pass = NL_INFERENCE;
        if (!norm(&p, r->x, r->y, NULL) || !norm(&inference, r->x, r->other, &slow)) return false;
        for (size_t i = 0; i < n * C; i++) gap += pow(r->y[i] - r->other[i], 2);
    }
    double m = (double)n, biased_off = sqrt(2 * m - 1) / m, unbiased_off = sqrt(2 / (m - 1));
    if (biased) {
        study_point(o, "noise", "mean", m, rms(mean, BATCHES * C));
        study_point(o, "noise, expected", "mean", m, 1 / sqrt(m));
    }
    study_point(o, "noise", name, m, rms(off, BATCHES * C));
    study_point(o, "noise, expected", name, m, biased ? biased_off : unbiased_off);
    study_point(o, "average", name, m, var / (BATCHES * C));
    study_point(o, "average, expected", name, m, biased ? (m - 1) / m : 1);
    study_point(o, "gap", name, m, rms(gap, PROBES * n * C));
    study_point(o, "gap, expected", name, m, sqrt(1.5 / m * (1 + 0.1 / 1.9)));
    return true;
}

static bool batch_sizes(study_out *o, room *r, size_t most) {
    for (size_t n = 2; n <= most; n *= 2) {
        study_progress(o, n / 2, most, "batch sizes");
        if (!noise(o, r, n, true) || !noise(o, r, n, false)) return false;
    }
    return true;
}

/* Shows how the running mean moves from 0 to TRUE_MEAN, a distance in sigmas. Momentum is the new
 * value's weight here and in PyTorch, and the old value's in Keras and Flax. */
enum { TRUE_MEAN = 10 };
static const struct convention {
    const char *name;
    float weight_of_new;
} conventions[] = {
    {"PyTorch's 0.1", 0.1f},
    {"Keras's 0.99, translated to 0.01", 0.01f},
    {"PyTorch's 0.1, copied to Keras", 0.9f},
    {"Keras's 0.99, copied to PyTorch", 0.99f},
};
enum { CONVENTIONS = sizeof conventions / sizeof *conventions };

static void distance(study_out *o, const char *name, size_t step, const float *mean) {
    double off = 0;
    for (size_t j = 0; j < C; j++) off += pow((double)mean[j] - TRUE_MEAN, 2);
    study_point(o, "momentum", name, (double)step, rms(off, C));
}

static bool momentum(study_out *o, room *r, size_t steps) {
    running all[CONVENTIONS] = {0}, batch = {0};
    float keras[C] = {0};
    nl_problem p = {.op = NL_BATCHNORM, .n = SMALL};
    r->next = 0;
    for (size_t step = 1, show = 1; step <= steps; step++) {
        study_progress(o, step, steps + 1, "momentum");
        draw(r, SMALL, TRUE_MEAN);
        p.momentum = 1;
        if (!norm(&p, r->x, r->y, &batch)) return false;
        for (size_t j = 0; j < C; j++) keras[j] = 0.9f * keras[j] + (1 - 0.9f) * batch.mean[j];
        for (int k = 0; k < CONVENTIONS; k++) {
            p.momentum = conventions[k].weight_of_new;
            if (!norm(&p, r->x, r->y, &all[k])) return false;
        }
        if (step < show) continue;
        show = step + 1 + step / 8; /* points are nearly even on a logarithmic axis */
        distance(o, "Keras's formula with 0.9", step, keras);
        for (int k = 0; k < CONVENTIONS; k++) {
            double m = (double)conventions[k].weight_of_new, left = pow(1 - m, 2.0 * (double)step);
            double floor = m / (2 - m) / SMALL * (1 - left);
            distance(o, conventions[k].name, step, all[k].mean);
            study_point(o, "momentum, expected", conventions[k].name, (double)step,
                        sqrt(TRUE_MEAN * TRUE_MEAN * left + floor));
        }
    }
    return true;
}

/* REAL tokens, then zeros: how much do the zeros change the output of the real tokens? */
enum { REAL = 252 }; /* at shares in tenths, the number of zeros is an integer */

static bool padding(study_out *o, room *r, nl_op op, const char *name, int mean) {
    nl_problem p = {.op = op, .n = REAL};
    r->next = 0;
    memset(r->x, 0, sizeof *r->x * MAX_ROWS * C);
    draw(r, REAL, mean);
    if (!norm(&p, r->x, r->other, NULL)) return false;
    for (int tenths = 0; tenths < 10; tenths++) {
        p.n = (size_t)(REAL * 10 / (10 - tenths));
        if (!norm(&p, r->x, r->y, NULL)) return false;
        double moved = 0, share = tenths / 10.0;
        for (size_t i = 0; i < REAL * C; i++) moved += pow(r->y[i] - r->other[i], 2);
        study_point(o, "padding", name, share, rms(moved, REAL * C));
        if (!nl_layers[op].by_channel) continue;
        /* from mean and variance of tokens and zeros together */
        double shift = share * mean, square = (1 - share) * (1 + mean * mean);
        double sigma = sqrt(square - pow((1 - share) * mean, 2));
        study_point(o, "padding, expected", name, share, hypot(shift / sigma, 1 / sigma - 1));
    }
    return true;
}

static bool run(study_out *o, bool quick) {
    size_t bytes = sizeof(float) * MAX_ROWS * C;
    room r = {.x = malloc(bytes), .y = malloc(bytes), .other = malloc(bytes)};
    bool ok = r.x && r.y && r.other && batch_sizes(o, &r, quick ? 128 : 1024) &&
              momentum(o, &r, quick ? 200 : 1000) &&
              padding(o, &r, NL_BATCHNORM, "BatchNorm, mean 0", 0) &&
              padding(o, &r, NL_BATCHNORM, "BatchNorm, mean 2 sigma", 2) &&
              padding(o, &r, NL_LAYERNORM, "LayerNorm, mean 2 sigma", 2) &&
              padding(o, &r, NL_RMSNORM, "RMSNorm, mean 2 sigma", 2);
    free(r.x), free(r.y), free(r.other);
    return ok;
}

const study study_batch_statistics = {"batch_statistics",
                                      "What do BatchNorm's batch and running statistics cost?",
                                      run};
