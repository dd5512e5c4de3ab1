/* Compares the gradients of the study `ablation` with difference quotients, and tests the
 * invariances of its norms. SPDX-License-Identifier: MIT */
#include "models/mlp.h"
#include "points.h"
#include "slope.h"

TestSuite(ablation, .init = one_thread);

enum { ROWS = 6, INPUTS = 10, WIDTH = 13, CLASSES = 4 };

static float x[ROWS * INPUTS];
static unsigned char labels[ROWS];

static mlp small(mlp_norm norm) {
    mlp net = {.norm = norm,
               .eps = 1e-5f,
               .rows = ROWS,
               .inputs = INPUTS,
               .width = WIDTH,
               .classes = CLASSES,
               .layers = 3};
    for (size_t i = 0; i < ROWS * INPUTS; i++) x[i] = (float)random_normal(1, i);
    for (size_t r = 0; r < ROWS; r++) labels[r] = (unsigned char)(r % CLASSES);
    cr_assert(mlp_make(&net, 3), "no memory");
    for (size_t i = 0; i < net.count; i++) net.parameters[i] += 0.1f * (float)random_normal(2, i);
    return net;
}

static double loss_of(void *net) {
    return mlp_loss(net, ROWS, x, labels, NULL);
}

static void slope(mlp *net, size_t first, size_t count, uint64_t stream) {
    char name[80];
    snprintf(name, sizeof name, "norm %d, %zu parameters from %zu on", net->norm, count, first);
    expect_slope(name, net->parameters + first, net->gradient + first, count, stream, loss_of, net);
}

/* Tests the gradient along directions of each layer's weights and biases. */
Test(ablation, gradient) {
    for (int norm = 0; norm < MLP_NORMS; norm++) {
        mlp net = small((mlp_norm)norm);
        double loss = mlp_gradient(&net, ROWS, x, labels);
        cr_assert(fabs(loss - mlp_loss(&net, ROWS, x, labels, NULL)) < 1e-12, "%g", loss);
        size_t first = 0;
        for (size_t l = 0; l <= net.layers; l++) {
            size_t from = l ? WIDTH : INPUTS, to = l < net.layers ? WIDTH : CLASSES;
            for (uint64_t stream = 10; stream < 13; stream++) {
                slope(&net, first, from * to, stream);
                if (norm != MLP_BATCH || l == net.layers)
                    slope(&net, first + from * to, to, stream);
                else /* subtracting the mean removes a channel's bias */
                    for (size_t i = first + from * to; i < first + (from + 1) * to; i++)
                        cr_assert(fabsf(net.gradient[i]) < 1e-6f, "%g", (double)net.gradient[i]);
            }
            first += (from + 1) * to;
        }
        cr_assert(first == net.count, "%zu of %zu parameters", first, net.count);
        mlp_free(&net);
    }
}

/* A norm that recentres is invariant to a shift of all z; a norm that rescales is invariant to a
 * scaling of z. */
Test(ablation, invariance) {
    for (int norm = 0; norm < MLP_NORMS; norm++)
        for (int stretch = 0; stretch < 2; stretch++) {
            mlp net = small((mlp_norm)norm);
            double before = mlp_loss(&net, ROWS, x, labels, NULL);
            for (size_t i = 0; i < (INPUTS + 1) * WIDTH; i++)
                if (stretch)
                    net.parameters[i] *= 3;
                else if (i >= INPUTS * WIDTH)
                    net.parameters[i] += 3;
            double moved = fabs(mlp_loss(&net, ROWS, x, labels, NULL) - before);
            bool divides = norm == MLP_RESCALE || norm == MLP_FULL || norm == MLP_BATCH;
            bool seen =
                stretch ? !divides : norm != MLP_RECENTRE && norm != MLP_FULL && norm != MLP_BATCH;
            cr_assert(seen ? moved > 1e-3 : moved < 1e-4, "norm %d, %s: %g", norm,
                      stretch ? "stretched" : "shifted", moved);
            mlp_free(&net);
        }
}

/* The network learns, and every run of the study gives the same points. */
Test(ablation, learns) {
    mlp net = small(MLP_FULL);
    double before = mlp_loss(&net, ROWS, x, labels, NULL);
    size_t wrong = ROWS;
    for (int step = 0; step < 200; step++)
        mlp_gradient(&net, ROWS, x, labels), mlp_step(&net, 0.02f, 0.9f);
    double after = mlp_loss(&net, ROWS, x, labels, &wrong);
    cr_assert(after < 0.1 * before && wrong == 0, "%g before, %g after, %zu wrong", before, after,
              wrong);
    mlp_free(&net);
    char *csv = points(&study_ablation), *again;
    static const char *const norms[] = {"nothing", "recentre", "rescale", "full"};
    for (int k = 0; k < 4; k++) {
        char series[40];
        snprintf(series, sizeof series, "%s, seed 1", norms[k]);
        double start = at(csv, &study_ablation, "loss, rate 0.01", series, 0);
        double errors = at(csv, &study_ablation, "errors after 60 steps", series, 0.01);
        cr_assert(start > 2 && start < 5 && errors > 0 && errors <= 1, "%s: %g, %g", series, start,
                  errors);
    }
    char *first = strdup(csv);
    free(csv), again = points(&study_ablation);
    cr_assert(first && strcmp(first, again) == 0, "another run has other points");
    free(first), free(again);
}
