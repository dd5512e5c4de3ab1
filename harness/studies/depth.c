/* The size of activations, of their gradients and of the weights' gradients over many random
 * layers, in three wirings, with each norm and none. Panels that end in ", expected" are theory.
 * SPDX-License-Identifier: MIT */
#include "models/network.h"
#include "layer.h"
#include "base/random.h"
#include "studies/study.h"

#include <math.h>
#include <stdlib.h>

/* The networks to compare in each wiring. */
static const struct candidate {
    const char *name;
    bool has_norm;
    nl_op norm;
    float stretch;
} candidates[] = {
    {"no norm", false, NL_LAYERNORM, 1},
    {"BatchNorm", true, NL_BATCHNORM, 1},
    {"LayerNorm", true, NL_LAYERNORM, 1},
    {"RMSNorm", true, NL_RMSNORM, 1},
    {"no norm, W * 1.1", false, NL_LAYERNORM, 1.1f},
    {"no norm, W * 0.9", false, NL_LAYERNORM, 0.9f},
};
enum { CANDIDATES = sizeof candidates / sizeof *candidates, LAYERS = 64 };
static const char *const wirings[] = {"plain", "pre-norm", "post-norm"};

/* Indices 0 to LAYERS; the weights of layer l, counted from 1, are at [l]. */
typedef struct curves {
    double activation[LAYERS + 1], gradient[LAYERS + 1], weights[LAYERS + 1];
} curves;

/* Mean squares in the limit of wide layers. The row norms divide by the mean square of the ReLU's
 * output. BatchNorm divides by the variance over the batch, which is 1 - 1/pi of the mean square. A
 * weight's gradient is a sum of input * output gradient, so its mean square is a product. */
static void expect(const struct candidate *candidate, wiring wiring, curves *e) {
    double *activation = e->activation, *gradient = e->gradient, *weights = e->weights;
    double share = nl_layers[candidate->norm].by_channel ? 1 - 1 / 3.14159265358979 : 1;
    double stretch = (double)candidate->stretch * (double)candidate->stretch, factor[LAYERS];
    activation[0] = gradient[LAYERS] = 1;
    for (size_t l = 0; l < LAYERS; l++) {
        double x = activation[l];
        if (!candidate->has_norm)
            factor[l] = wiring == PLAIN ? stretch : 2, activation[l + 1] = x * factor[l];
        else if (wiring == PLAIN) /* the first layer's input does not come from a ReLU */
            factor[l] = l ? 1 / share : 0.5, activation[l + 1] = 0.5;
        else if (wiring == PRE_NORM)
            factor[l] = 1 + 1 / (1 + (double)l * share), activation[l + 1] = x + 1;
        else
            factor[l] = 2 / (1 + share), activation[l + 1] = 1;
    }
    for (size_t l = LAYERS; l-- > 0;) {
        gradient[l] = gradient[l + 1] * factor[l];
        weights[l + 1] = !candidate->has_norm  ? activation[l] * gradient[l + 1]
                         : wiring == PLAIN     ? activation[l] * gradient[l]
                         : wiring == POST_NORM ? gradient[l] / 2
                                               : gradient[l + 1];
        /* A gradient behind BatchNorm adds up to 0 over the batch: the ReLU's mean drops out. */
        double behind = wiring == PRE_NORM ? 1 - 1 / gradient[l + 1] : l || wiring == POST_NORM;
        weights[l + 1] *= 1 - (1 - share) * behind;
    }
    for (size_t l = 0; l <= LAYERS; l++)
        activation[l] = sqrt(activation[l]), gradient[l] = sqrt(gradient[l]),
        weights[l] = sqrt(weights[l]);
}

static void points(study_out *o, const char *wiring, const char *theory, const char *name,
                   const curves *y) {
    const double *of[] = {y->activation, y->gradient, y->weights};
    static const char *const what[] = {"activations", "gradients", "weight gradients"};
    for (size_t k = 0; k < 3; k++) {
        char panel[80];
        snprintf(panel, sizeof panel, "%s %s%s", wiring, what[k], theory);
        for (size_t l = k == 2; l <= LAYERS; l++) study_point(o, panel, name, (double)l, of[k][l]);
    }
}

static bool run(study_out *o, bool quick) {
    network net = {.layers = LAYERS, .width = quick ? 64 : 256, .rows = quick ? 32 : 128};
    size_t n = net.width * net.rows, weights = 2 * net.layers * net.width * net.width;
    float *normal = malloc(weights * sizeof *normal), *x = malloc(4 * n * sizeof *x);
    curves got, expected = {.weights = {0}};
    bool ok = normal && x;
    for (size_t i = 0; ok && i < weights; i++) normal[i] = (float)random_normal(1, i);
    for (size_t i = 0; ok && i < 2 * n; i++) x[i] = (float)random_normal(2, i);
    net.normal = normal;
    for (size_t i = 0; ok && i < WIRINGS * CANDIDATES; i++) {
        const struct candidate *candidate = &candidates[i % CANDIDATES];
        net.wiring = (wiring)(i / CANDIDATES);
        const char *name = wirings[net.wiring];
        study_progress(o, i, WIRINGS * CANDIDATES, name);
        if (net.wiring != PLAIN && candidate->stretch != 1) continue;
        net.has_norm = candidate->has_norm, net.norm = candidate->norm,
        net.stretch = candidate->stretch;
        ok = network_run(&net, x, x + n, x + 2 * n, x + 3 * n,
                         (network_sizes){got.activation, got.gradient, got.weights + 1});
        if (!ok) break;
        /* In He's network without a norm, each row adds 1/2 to a weight gradient's mean square. */
        for (size_t l = 1; l <= LAYERS; l++) got.weights[l] /= sqrt((double)net.rows / 2);
        expect(candidate, net.wiring, &expected);
        points(o, name, "", candidate->name, &got);
        points(o, name, ", expected", candidate->name, &expected);
    }
    free(normal), free(x);
    return ok;
}

const study study_depth = {"depth",
                           "What do norms do to activations and gradients over 64 random layers?",
                           run};
