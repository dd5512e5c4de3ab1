/* SPDX-License-Identifier: MIT */
#include "models/network.h"
#include "layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Saved by forward for each layer: the norm's input and statistics, and the ReLU's output. */
typedef struct kept {
    float *in, *mean, *rstd, *relu;
} kept;

typedef struct work {
    const network *net;
    const float *x; /* the input of layer 0 */
    kept *layers;
    float *weights, *a, *b; /* a matrix, two tensors */
} work;

static size_t elements(const network *net) {
    return net->rows * net->width;
}

/* Matrix k of He's initialization. The variance is gain / width (if stretch is 1); gain is 2 after
 * a ReLU, which halves the mean square, and in PLAIN; otherwise 1. */
static const float *matrix(work *w, size_t k, double gain, bool transposed) {
    size_t c = w->net->width;
    const float *normal = w->net->normal + k * c * c;
    float scale = w->net->stretch * (float)sqrt(gain / (double)c);
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j < c; j++)
            w->weights[transposed ? j * c + i : i * c + j] = scale * normal[i * c + j];
    return w->weights;
}

/* to = from * matrix */
static void multiply(const network *net, const float *from, const float *matrix, float *to) {
    size_t c = net->width;
    memset(to, 0, elements(net) * sizeof *to);
    for (size_t r = 0; r < net->rows; r++, from += c, to += c)
        for (size_t i = 0; i < c; i += 4) {
            const float *x = from + i, *m = matrix + i * c;
            for (size_t j = 0; j < c; j++)
                to[j] +=
                    (x[0] * m[j] + x[1] * m[c + j]) + (x[2] * m[2 * c + j] + x[3] * m[3 * c + j]);
        }
}

static void add(const network *net, float *to, const float *from) {
    for (size_t i = 0; i < elements(net); i++) to[i] += from[i];
}

/* Zeroes the elements of `to` for which `by` is not positive. This is ReLU if by == to, and ReLU's
 * backward pass if `by` is ReLU's output. */
static void rectify(const network *net, float *to, const float *by) {
    for (size_t i = 0; i < elements(net); i++)
        if (!(by[i] > 0)) to[i] = 0;
}

static bool norm_forward(const network *net, const kept *k, float *y) {
    nl_problem p = {.op = net->norm, .n = net->rows, .c = net->width, .s = 1, .eps = 1e-5f};
    nl_forward_args a = {.x = k->in, .y = y, .rstd = k->rstd};
    if (nl_layers[net->norm].centred) a.mean = k->mean;
    if (net->has_norm) return nl_forward(NULL, &p, &a, 1) == NL_OK;
    memcpy(y, k->in, elements(net) * sizeof *y);
    return true;
}

static bool norm_backward(const network *net, const kept *k, float *d) {
    nl_problem p = {.op = net->norm, .pass = NL_BACKWARD, .n = net->rows, .c = net->width, .s = 1};
    nl_backward_args a = {.x = k->in, .dy = d, .rstd = k->rstd, .dx = d};
    if (nl_layers[net->norm].centred) a.mean = k->mean;
    return !net->has_norm || nl_backward(NULL, &p, &a, 1) == NL_OK;
}

static bool forward(work *w, size_t l, float *x) {
    const network *net = w->net;
    const kept *k = &w->layers[l];
    size_t bytes = elements(net) * sizeof *x;
    bool ok = true;
    if (net->wiring == PLAIN) {
        multiply(net, x, matrix(w, 2 * l, 2, false), k->in);
        ok = norm_forward(net, k, x);
        rectify(net, x, x);
        memcpy(k->relu, x, bytes);
        return ok;
    }
    memcpy(net->wiring == PRE_NORM ? k->in : w->a, x, bytes);
    if (net->wiring == PRE_NORM) ok = norm_forward(net, k, w->a);
    multiply(net, w->a, matrix(w, 2 * l, 1, false), k->relu);
    rectify(net, k->relu, k->relu);
    multiply(net, k->relu, matrix(w, 2 * l + 1, 2, false), w->a);
    add(net, x, w->a);
    if (net->wiring == PRE_NORM) return ok;
    memcpy(k->in, x, bytes);
    return norm_forward(net, k, x);
}

static double rms(const float *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i] * (double)x[i];
    return sqrt(sum / (double)n);
}

/* The rms of the gradient of a matrix whose input is `in` and whose output has the gradient d. The
 * gradient is the sum of in_i * d_j over the rows. Overwrites w->weights. */
static double matrix_gradient(work *w, const float *in, const float *d) {
    size_t c = w->net->width;
    memset(w->weights, 0, c * c * sizeof *w->weights);
    for (size_t r = 0; r < w->net->rows; r++, in += c, d += c)
        for (size_t i = 0; i < c; i++)
            for (size_t j = 0; j < c; j++) w->weights[i * c + j] += in[i] * d[j];
    return rms(w->weights, c * c);
}

static bool backward(work *w, size_t l, float *d, double *weights) {
    const network *net = w->net;
    const kept *k = &w->layers[l];
    bool ok = true;
    if (net->wiring == PLAIN) {
        rectify(net, d, k->relu);
        ok = norm_backward(net, k, d);
        *weights = matrix_gradient(w, l ? k[-1].relu : w->x, d);
        multiply(net, d, matrix(w, 2 * l, 2, true), w->a);
        memcpy(d, w->a, elements(net) * sizeof *d);
        return ok;
    }
    if (net->wiring == POST_NORM) ok = norm_backward(net, k, d);
    *weights = matrix_gradient(w, k->relu, d);
    multiply(net, d, matrix(w, 2 * l + 1, 2, true), w->a);
    rectify(net, w->a, k->relu);
    multiply(net, w->a, matrix(w, 2 * l, 1, true), w->b);
    if (net->wiring == PRE_NORM) ok = norm_backward(net, k, w->b);
    add(net, d, w->b);
    return ok;
}

bool network_run(const network *net, const float *x, const float *g, float *y, float *dx,
                 network_sizes sizes) {
    size_t n = elements(net), statistics = net->rows + net->width, each = 2 * (n + statistics);
    float *room = malloc((net->layers * each + net->width * net->width + 2 * n) * sizeof *room);
    work w = {.net = net, .x = x, .layers = malloc(net->layers * sizeof *w.layers)};
    bool ok = room && w.layers;
    for (size_t l = 0; ok && l < net->layers; l++) {
        float *at = room + l * each;
        w.layers[l] = (kept){at, at + n, at + n + statistics, at + n + 2 * statistics};
    }
    if (ok) w.a = room + net->layers * each, w.b = w.a + n, w.weights = w.b + n;
    memcpy(y, x, n * sizeof *y), memcpy(dx, g, n * sizeof *dx);
    sizes.activation[0] = rms(y, n), sizes.gradient[net->layers] = rms(dx, n);
    for (size_t l = 0; ok && l < net->layers; l++) {
        ok = forward(&w, l, y);
        sizes.activation[l + 1] = rms(y, n);
    }
    for (size_t l = net->layers; ok && l-- > 0;) {
        ok = backward(&w, l, dx, &sizes.weights[l]);
        sizes.gradient[l] = rms(dx, n);
    }
    free(room), free(w.layers);
    return ok;
}
