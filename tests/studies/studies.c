/* Compares the studies casting, batch_statistics, depth and training with identities, theorems of
 * statistics and finite differences. SPDX-License-Identifier: MIT */
#include "layer.h"
#include "models/network.h"
#include "points.h"

TestSuite(studies, .init = one_thread);

/* The y that theory expects for a point, from the panel "..., expected". */
static double theory(const char *csv, const study *s, const char *panel, const char *series,
                     double x) {
    char name[120];
    snprintf(name, sizeof name, "%s, expected", panel);
    return at(csv, s, name, series, x);
}

/* In f32 all orders of rounding give the same bits, even after 72 layers. In every type, the gain
 * 1 + w gives the same bits as a gamma of that value. One rounding costs half an ulp; another,
 * before a weight of up to 2, adds up to one ulp. Errors grow as the root of the depth, or as the
 * depth if the sum is truncated. */
Test(studies, casting) {
    static const char *const series[] = {"last, 1 + w", "before weight", "last, sum rounded",
                                         "before weight, sum rounded"};
    const study *s = &study_casting;
    char *csv = points(s), panel[80];
    for (nl_dtype t = 0; t < NL_DTYPES; t++)
        for (int k = 0; k < 4; k++)
            for (int depth = 1; depth <= 72; depth++) {
                snprintf(panel, sizeof panel, "%s share that differs by layer", nl_dtype_name(t));
                double share = at(csv, s, panel, series[k], depth);
                bool same = t == NL_F32 || k == 0;
                cr_assert(same ? share == 0 : share > 0.1 && share < 1, "%s, %s, layer %d: %g",
                          panel, series[k], depth, share);
            }
    for (nl_dtype t = NL_F16; t <= NL_BF16; t++) {
        snprintf(panel, sizeof panel, "%s largest error, ulp", nl_dtype_name(t));
        double last = at(csv, s, panel, "last", 1), before = at(csv, s, panel, series[1], 1);
        cr_assert(last > 0.49 && last < 0.505, "%s: cast last: %g", panel, last);
        cr_assert(before > 1.2 && before < 1.505, "%s: cast before weight: %g", panel, before);
        for (int layer = 1; layer <= 72; layer += 71) {
            double sum = 0;
            snprintf(panel, sizeof panel, "%s steps apart, layer %d", nl_dtype_name(t), layer);
            for (int k = -9; k <= 9; k++) sum += at(csv, s, panel, series[1], k);
            cr_assert(fabs(sum - 1) < 1e-6, "%s: the shares add up to %g", panel, sum);
        }
        snprintf(panel, sizeof panel, "%s growth of the rms error", nl_dtype_name(t));
        for (int k = 0; k < 4; k++) {
            const double power = at(csv, s, panel, series[k], 72);
            cr_assert(power > 0.3 && power < 0.6, "%s, %s: %g", panel, series[k], power);
        }
        const double truncated = at(csv, s, panel, "wrong: sum truncated", 72);
        cr_assert(truncated > 0.9 && truncated < 1.1, "%s, truncated: %g", panel, truncated);
    }
    free(csv);
}

/* The unbiased variance over the biased one is n / (n - 1). Noise, average and gap match theory. */
Test(studies, batch_noise) {
    const study *s = &study_batch_statistics;
    char *csv = points(s);
    for (double n = 2; n <= 128; n *= 2) {
        double biased = at(csv, s, "average", "variance, biased", n);
        double unbiased = at(csv, s, "average", "variance, unbiased", n);
        cr_assert(fabs(unbiased / biased - n / (n - 1)) < 1e-6, "n = %g: %g and %g", n, biased,
                  unbiased);
        static const char *const all[][2] = {{"noise", "mean"},
                                             {"noise", "variance, biased"},
                                             {"noise", "variance, unbiased"},
                                             {"average", "variance, biased"},
                                             {"gap", "variance, unbiased"}};
        for (int k = 0; k < (n < 16 ? 4 : 5); k++) { /* the gap's theory is for large n */
            double got = at(csv, s, all[k][0], all[k][1], n);
            double want = theory(csv, s, all[k][0], all[k][1], n);
            cr_assert(fabs(got / want - 1) < 0.05, "%s, %s, n = %g: %g, expected %g", all[k][0],
                      all[k][1], n, got, want);
        }
    }
    free(csv);
}

/* Keras's formula with 0.9 equals PyTorch's with 0.1, but Keras's with a copied 0.1 does not. Only
 * in BatchNorm does padding change real tokens. */
Test(studies, momentum_and_padding) {
    const study *s = &study_batch_statistics;
    char *csv = points(s);
    for (int step = 1; step <= 8; step++) {
        double keras = at(csv, s, "momentum", "Keras's formula with 0.9", step);
        double pytorch = at(csv, s, "momentum", "PyTorch's 0.1", step);
        double copied = at(csv, s, "momentum", "PyTorch's 0.1, copied to Keras", step);
        cr_assert(fabs(keras / pytorch - 1) < 1e-5 && copied < 0.25 * pytorch,
                  "step %d: %g, %g and %g", step, keras, pytorch, copied);
    }
    for (int tenths = 0; tenths < 10; tenths++) {
        double share = tenths / 10.0;
        double layer = at(csv, s, "padding", "LayerNorm, mean 2 sigma", share);
        double root = at(csv, s, "padding", "RMSNorm, mean 2 sigma", share);
        double batch = at(csv, s, "padding", "BatchNorm, mean 0", share);
        double want = theory(csv, s, "padding", "BatchNorm, mean 0", share);
        cr_assert(layer == 0 && root == 0, "%g padding: %g and %g", share, layer, root);
        cr_assert(fabs(want - (1 / sqrt(1 - share) - 1)) < 1e-6, "%g padding: %g", share, want);
        cr_assert(tenths ? fabs(batch / want - 1) < 0.02 : batch == 0, "%g padding: %g, not %g",
                  share, batch, want);
    }
    free(csv);
}

enum { ROWS = 6, WIDTH = 8, DEEP = 3, N = ROWS * WIDTH };

/* sum(g * y), as double. */
static double loss(const network *net, const float *x, const float *g, float *dx,
                   double weights[DEEP]) {
    float y[N];
    double sum = 0, activation[DEEP + 1], gradient[DEEP + 1];
    network_sizes sizes = {activation, gradient, weights};
    cr_assert(network_run(net, x, g, y, dx, sizes), "%s", nl_message());
    for (int i = 0; i < N; i++) sum += (double)g[i] * (double)y[i];
    return sum;
}

/* weights[] is the rms of the slopes of the loss along the weights of a layer's last matrix. */
static void check_weights(const network *net, float *normal, const float *x, const float *g) {
    const double h = 0x1p-12, scale = sqrt(2.0 / WIDTH);
    for (size_t l = 0; l < DEEP; l++) {
        float *m = normal + (2 * l + (net->wiring != PLAIN)) * WIDTH * WIDTH, dx[N];
        double sum = 0, weights[DEEP];
        for (int i = 0; i < WIDTH * WIDTH; i++) {
            const float kept = m[i];
            m[i] = kept + (float)h;
            double there = loss(net, x, g, dx, weights);
            m[i] = kept - (float)h;
            double back = loss(net, x, g, dx, weights);
            m[i] = kept;
            sum += pow((there - back) / (2 * h * scale), 2);
        }
        loss(net, x, g, dx, weights);
        double want = sqrt(sum / (WIDTH * WIDTH));
        cr_assert(fabs(weights[l] / want - 1) < 0.005, "wiring %d, %s, layer %zu: %g, not %g",
                  (int)net->wiring, net->has_norm ? nl_op_name(net->norm) : "no norm", l,
                  weights[l], want);
    }
}

/* The slope of the loss along a direction agrees with the gradient. */
Test(studies, network_gradient) {
    static float normal[2 * DEEP * WIDTH * WIDTH], x[N], g[N], direction[N];
    for (size_t i = 0; i < 2 * DEEP * WIDTH * WIDTH; i++) normal[i] = (float)random_normal(1, i);
    for (size_t i = 0; i < N; i++)
        x[i] = (float)random_normal(5, i), g[i] = (float)random_normal(3, i),
        direction[i] = (float)random_normal(4, i);
    network net = {.stretch = 1, .layers = DEEP, .width = WIDTH, .rows = ROWS, .normal = normal};
    for (int k = 0; k < WIRINGS * 4; k++) {
        static const nl_op norms[] = {NL_LAYERNORM, NL_BATCHNORM, NL_LAYERNORM, NL_RMSNORM};
        net.wiring = (wiring)(k / 4), net.has_norm = k % 4, net.norm = norms[k % 4];
        const double h = 0x1p-12; /* so small that no ReLU switches */
        float dx[N], there[N], back[N], unused[N];
        double slope = 0, size = 0, weights[DEEP];
        for (int i = 0; i < N; i++) {
            there[i] = x[i] + (float)h * direction[i], back[i] = x[i] - (float)h * direction[i];
        }
        loss(&net, x, g, dx, weights);
        for (int i = 0; i < N; i++) {
            slope += (double)dx[i] * (double)direction[i];
            size += pow((double)dx[i] * (double)direction[i], 2);
        }
        double got =
            (loss(&net, there, g, unused, weights) - loss(&net, back, g, unused, weights)) /
            (2 * h);
        cr_assert(fabs(got - slope) < 0.002 * sqrt(size), "wiring %d, norm %d: %g, not %g", k / 4,
                  k % 4, slope, got);
        check_weights(&net, normal, x, g);
    }
}

/* Without a norm a layer is homogeneous: a factor 1.1 on all weights gives a factor 1.1^l after l
 * layers, and 1.1^63 in every weight's gradient. Sizes are near the theory of very wide layers. */
Test(studies, depth) {
    static const char *const wirings[] = {"plain", "pre-norm", "post-norm"};
    static const char *const norms[] = {"BatchNorm", "LayerNorm", "RMSNorm"};
    static const char *const what[] = {"activations", "gradients", "weight gradients"};
    const study *s = &study_depth;
    char *csv = points(s), panel[80];
    for (int k = 0; k < 3; k++)
        for (int l = k == 2; l <= 64; l++) {
            snprintf(panel, sizeof panel, "plain %s", what[k]);
            double plain = at(csv, s, panel, "no norm", l);
            double stretched = at(csv, s, panel, "no norm, W * 1.1", l);
            double power = k == 0 ? l : k == 1 ? 64 - l : 63;
            cr_assert(fabs(stretched / plain / pow(1.1, power) - 1) < 1e-4, "%s, layer %d: %g",
                      panel, l, stretched);
            stretched = theory(csv, s, panel, "no norm, W * 1.1", l);
            cr_assert(fabs(stretched / pow((double)1.1f, power) - 1) < 1e-7, "%s, expected, %d: %g",
                      panel, l, stretched);
        }
    for (int k = 0; k < 27; k++)
        for (int l = 1; l <= 64; l++) {
            const char *norm = norms[k % 3];
            snprintf(panel, sizeof panel, "%s %s", wirings[k / 9], what[k / 3 % 3]);
            double got = at(csv, s, panel, norm, l), want = theory(csv, s, panel, norm, l);
            double factor = k / 9 && k / 3 % 3 == 0 ? 1.2
                            : k / 9 == 1            ? 1.5
                                                    : 10; /* narrow networks stray */
            cr_assert(got < want * factor && got > want / factor, "%s, %s, layer %d: %g, not %g",
                      panel, norm, l, got, want);
        }
    free(csv);
}

/* Before a norm, w . dL/dw is 0 up to rounding. With weights times 4, the gradient is a quarter,
 * the curvature a sixteenth, and training at 16 times the rate gives the same bits. */
Test(studies, training) {
    static const char *const norms[] = {"no norm", "RMSNorm", "LayerNorm", "BatchNorm"};
    const study *s = &study_training;
    char *csv = points(s);
    for (int i = 0; i < 4; i++) {
        const double along = at(csv, s, "w . dL/dw over their lengths", norms[i], 1);
        const double loss = at(csv, s, "loss, weights times x", norms[i], 4);
        const double size = at(csv, s, "gradient, weights times x", norms[i], 4);
        const double bend = at(csv, s, "curvature, weights times x", norms[i], 4);
        const double apart = at(csv, s, "loss: 4 w at 16 times the rate, against w", norms[i], 20);
        cr_assert(i ? along < 1e-6 : along > 1e-3, "%s: %g along w", norms[i], along);
        cr_assert(i ? loss == 1 : loss != 1, "%s: the loss is %.17g times what it was", norms[i],
                  loss);
        cr_assert(i ? size == 0.25 : size != 0.25, "%s: the gradient %.17g", norms[i], size);
        cr_assert(i ? bend == 0.0625 : bend != 0.0625, "%s: the curvature %.17g", norms[i], bend);
        cr_assert(i ? apart == 0 : !(apart <= 1e-3), "%s: losses %g apart", norms[i], apart);
    }
    const char *decay = "weight decay 0.005", *angle = "angle of a step";
    const double due = at(csv, s, "angle of a step, expected", decay, 1000);
    double mean = 0;
    cr_assert(fabs(due - sqrt(2 * 0.2 * 0.005)) < 1e-8, "%g", due);
    for (int step = 900; step <= 1500; step += 100) mean += at(csv, s, angle, decay, step) / 7;
    cr_assert(fabs(mean / due - 1) < 0.05, "%g, expected %g", mean, due);
    double before = 0;
    for (int step = 100; step <= 2000; step += 100) { /* without weight decay, w only grows */
        const double length = at(csv, s, "length of w", "no weight decay", step);
        cr_assert(length > before, "step %d: %g after %g", step, length, before);
        before = length;
    }
    for (double rate = 0.01; rate < 2; rate *= 10) {
        const double errors = at(csv, s, "errors by rate", "RMSNorm", rate);
        cr_assert(errors > 0 && errors <= 1, "rate %g: %g", rate, errors);
    }
    free(csv);
}
