/* The layers of mlp.h, forward and backward. SPDX-License-Identifier: MIT */
#include "models/mlp.h"
#include "base/random.h"
#include "normlab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A layer: in -> z = in W + b -> hat = norm(z) -> out = silu(hat). The last layer stops at z. */
typedef struct layer {
    size_t from, to;
    float *w, *b, *dw, *db;            /* [from][to], [to] */
    float *z, *hat, *out;              /* [rows][to] */
    float *mean, *rstd;                /* [rows], or [to] for BatchNorm */
    float *running_mean, *running_var; /* [to] */
} layer;

static size_t layer_room(const mlp *net) {
    return 3 * net->rows * net->width + 2 * (net->rows + net->width) + 2 * net->width;
}

static layer layer_at(const mlp *net, size_t l) {
    size_t first = net->inputs > net->width ? net->inputs : net->width;
    layer k = {.from = l ? net->width : net->inputs,
               .to = l < net->layers ? net->width : net->classes};
    size_t before =
        l ? (net->inputs + 1) * net->width + (l - 1) * (net->width + 1) * net->width : 0;
    k.w = net->parameters + before, k.b = k.w + k.from * k.to;
    k.dw = net->gradient + before, k.db = k.dw + k.from * k.to;
    size_t values = net->rows * net->width, groups = net->rows + net->width;
    k.z = net->room + 2 * net->rows * first + l * layer_room(net);
    k.hat = k.z + values, k.out = k.hat + values;
    k.mean = k.out + values, k.rstd = k.mean + groups;
    k.running_mean = k.rstd + groups, k.running_var = k.running_mean + net->width;
    return k;
}

bool mlp_make(mlp *net, unsigned seed) {
    size_t first = net->inputs > net->width ? net->inputs : net->width;
    net->count = (net->inputs + 1) * net->width +
                 (net->layers - 1) * (net->width + 1) * net->width +
                 (net->width + 1) * net->classes;
    size_t room = 2 * net->rows * first + (net->layers + 1) * layer_room(net);
    net->parameters = calloc(3 * net->count + room, sizeof *net->parameters);
    if (!net->parameters) return false;
    net->gradient = net->parameters + net->count, net->velocity = net->gradient + net->count;
    net->room = net->velocity + net->count;
    for (size_t l = 0; l <= net->layers; l++) {
        layer k = layer_at(net, l);
        double scale = sqrt((l ? 2.0 : 1.0) / (double)k.from);
        for (size_t i = 0; i < k.from * k.to; i++)
            k.w[i] =
                (float)(scale * random_normal(1000 + seed, (size_t)(k.w - net->parameters) + i));
        for (size_t i = 0; i < net->width; i++) k.running_var[i] = 1;
    }
    return true;
}

void mlp_free(mlp *net) {
    free(net->parameters);
}

static nl_problem problem(const mlp *net, size_t rows, const layer *k, nl_pass pass) {
    return (nl_problem){.op = net->norm == MLP_BATCH  ? NL_BATCHNORM
                              : net->norm == MLP_FULL ? NL_LAYERNORM
                                                      : NL_RMSNORM,
                        .pass = pass,
                        .n = rows,
                        .c = k->to,
                        .s = 1,
                        .eps = net->eps,
                        .momentum = net->norm == MLP_BATCH ? 0.1f : 0};
}

static bool of_the_library(mlp_norm norm) {
    return norm == MLP_RESCALE || norm == MLP_FULL || norm == MLP_BATCH;
}

/* The library has no layer that only subtracts the mean, so this file computes it. */
static bool norm(const mlp *net, size_t rows, const layer *k) {
    if (of_the_library(net->norm)) {
        const bool batch = net->norm == MLP_BATCH, running = batch && net->running;
        const nl_problem p = problem(net, rows, k, running ? NL_INFERENCE : NL_FORWARD);
        nl_forward_args a = {.x = k->z, .y = k->hat};
        if (!running) a.rstd = k->rstd, a.mean = net->norm == MLP_RESCALE ? NULL : k->mean;
        if (batch) a.running_mean = k->running_mean, a.running_var = k->running_var;
        return nl_forward(NULL, &p, &a, 1) == NL_OK;
    }
    for (size_t r = 0; r < rows; r++) {
        const float *z = k->z + r * k->to;
        float *hat = k->hat + r * k->to;
        double sum = 0;
        for (size_t i = 0; i < k->to; i++) sum += (double)z[i];
        float mean = net->norm == MLP_RECENTRE ? (float)(sum / (double)k->to) : 0;
        for (size_t i = 0; i < k->to; i++)
            hat[i] = net->norm == MLP_TANH ? tanhf(2 * z[i]) : z[i] - mean;
    }
    return true;
}

/* Turns d, the gradient of hat, into the gradient of z. */
static bool norm_backward(const mlp *net, size_t rows, const layer *k, float *d) {
    if (of_the_library(net->norm)) {
        const nl_problem p = problem(net, rows, k, NL_BACKWARD);
        nl_backward_args a = {.x = k->z, .dy = d, .rstd = k->rstd, .dx = d};
        if (net->norm != MLP_RESCALE) a.mean = k->mean;
        return nl_backward(NULL, &p, &a, 1) == NL_OK;
    }
    for (size_t i = 0; net->norm == MLP_TANH && i < rows * k->to; i++)
        d[i] *= 2 * (1 - k->hat[i] * k->hat[i]);
    for (size_t r = 0; net->norm == MLP_RECENTRE && r < rows; r++, d += k->to) {
        double sum = 0;
        for (size_t i = 0; i < k->to; i++) sum += (double)d[i];
        for (size_t i = 0; i < k->to; i++) d[i] -= (float)(sum / (double)k->to);
    }
    return true;
}

static float sigmoid(float x) {
    return 1 / (1 + expf(-x));
}

/* z = in W + b */
static void multiply(size_t rows, const layer *k, const float *in) {
    for (size_t r = 0; r < rows; r++) {
        float *z = k->z + r * k->to;
        memcpy(z, k->b, k->to * sizeof *z);
        for (size_t i = 0; i < k->from; i++) {
            float x = in[r * k->from + i];
            const float *w = k->w + i * k->to;
            for (size_t j = 0; j < k->to; j++) z[j] += x * w[j];
        }
    }
}

/* From d, the gradient of z, computes dw, db and, unless din is NULL, the gradient of `in`. */
static void multiply_backward(size_t rows, const layer *k, const float *in, const float *d,
                              float *din) {
    memset(k->dw, 0, k->from * k->to * sizeof *k->dw), memset(k->db, 0, k->to * sizeof *k->db);
    for (size_t r = 0; r < rows; r++, in += k->from, d += k->to) {
        for (size_t j = 0; j < k->to; j++) k->db[j] += d[j];
        for (size_t i = 0; i < k->from; i++) {
            float *dw = k->dw + i * k->to, x = in[i], sums[8] = {0};
            const float *w = k->w + i * k->to;
            for (size_t j = 0; j < k->to; j++) dw[j] += x * d[j];
            if (!din) continue;
            size_t whole = k->to - k->to % 8;
            for (size_t j = 0; j < whole; j += 8)
                for (size_t s = 0; s < 8; s++) sums[s] += w[j + s] * d[j + s];
            for (size_t j = whole; j < k->to; j++) sums[0] += w[j] * d[j];
            din[r * k->from + i] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
                                   ((sums[4] + sums[5]) + (sums[6] + sums[7]));
        }
    }
}

/* Cross-entropy of a row of z; d (or NULL) gets its gradient, softmax minus the label. */
static double entropy(const float *z, size_t classes, size_t label, float *d, size_t rows) {
    double most = -INFINITY, sum = 0;
    for (size_t j = 0; j < classes; j++) most = fmax(most, (double)z[j]);
    for (size_t j = 0; j < classes; j++) sum += exp((double)z[j] - most);
    for (size_t j = 0; d && j < classes; j++)
        d[j] = (float)((exp((double)z[j] - most) / sum - (j == label)) / (double)rows);
    return log(sum) + most - (double)z[label];
}

static double forward(mlp *net, size_t rows, const float *x, const unsigned char *labels,
                      size_t *wrong, float *d) {
    for (size_t l = 0; l <= net->layers; l++) {
        layer k = layer_at(net, l);
        multiply(rows, &k, x);
        if (l == net->layers) break;
        if (!norm(net, rows, &k)) return NAN;
        for (size_t i = 0; i < rows * k.to; i++) k.out[i] = k.hat[i] * sigmoid(k.hat[i]);
        x = k.out;
    }
    layer last = layer_at(net, net->layers);
    double loss = 0;
    if (wrong) *wrong = 0;
    for (size_t r = 0; r < rows; r++) {
        const float *z = last.z + r * last.to;
        loss += entropy(z, last.to, labels[r], d ? d + r * last.to : NULL, rows);
        for (size_t j = 0; wrong && j < last.to; j++)
            if (j != labels[r] && !(z[j] < z[labels[r]])) {
                ++*wrong;
                break;
            }
    }
    return loss / (double)rows;
}

double mlp_loss(mlp *net, size_t rows, const float *x, const unsigned char *labels, size_t *wrong) {
    return forward(net, rows, x, labels, wrong, NULL);
}

double mlp_gradient(mlp *net, size_t rows, const float *x, const unsigned char *labels) {
    size_t first = net->inputs > net->width ? net->inputs : net->width;
    float *d = net->room, *next = net->room + net->rows * first;
    double loss = forward(net, rows, x, labels, NULL, d);
    for (size_t l = net->layers + 1; l-- > 0;) {
        layer k = layer_at(net, l), below = l ? layer_at(net, l - 1) : k;
        multiply_backward(rows, &k, l ? below.out : x, d, l ? next : NULL);
        if (!l) break;
        for (size_t i = 0; i < rows * below.to; i++) {
            float s = sigmoid(below.hat[i]);
            next[i] *= s * (1 + below.hat[i] * (1 - s));
        }
        if (!norm_backward(net, rows, &below, next)) return NAN;
        float *swap = d;
        d = next, next = swap;
    }
    return loss;
}

void mlp_step(mlp *net, float rate, float momentum) {
    for (size_t i = 0; i < net->count; i++) {
        net->velocity[i] = momentum * net->velocity[i] - rate * net->gradient[i];
        net->parameters[i] += net->velocity[i];
    }
}

size_t mlp_hidden(const mlp *net) {
    return net->count - (net->width + 1) * net->classes;
}

/* The digits as 3 x 5 points; each octal digit is a row. */
static const unsigned short glyphs[DIGITS] = {075557, 026227, 071747, 071717, 055711,
                                              074717, 074757, 071122, 075757, 075717};

/* Draws picture i, a digit at twice its size on 12 x 12 points. Place, contrast, brightness and
 * noise are random, but depend only on i. */
static void draw(float *x, unsigned char *label, size_t i) {
    uint32_t at[4];
    random_words(1, i, at);
    *label = (unsigned char)(at[0] % DIGITS);
    size_t left = at[1] % (DIGIT_SIDE - 6 + 1), top = at[2] % (DIGIT_SIDE - 10 + 1);
    double contrast = 0.5 + 1.5 * random_uniform(2, i), brightness = 2 * random_uniform(3, i) - 1;
    for (size_t r = 0; r < DIGIT_SIDE; r++)
        for (size_t c = 0; c < DIGIT_SIDE; c++) {
            bool inside = r >= top && r < top + 10 && c >= left && c < left + 6;
            size_t point = inside ? 14 - ((r - top) / 2 * 3 + (c - left) / 2) : 0;
            double ink = inside && glyphs[*label] >> point & 1;
            double noise = 0.3 * random_normal(4, i * DIGIT_POINTS + r * DIGIT_SIDE + c);
            x[r * DIGIT_SIDE + c] = (float)(brightness + contrast * (ink + noise));
        }
}

bool digits_make(digits *all) {
    const size_t n = LEARNT + HELD_OUT;
    *all = (digits){malloc(n * DIGIT_POINTS * sizeof *all->x), malloc(n)};
    if (!all->x || !all->labels) return digits_free(all), false;
    for (size_t i = 0; i < n; i++) draw(digit(all, i), &all->labels[i], i);
    return true;
}

void digits_free(digits *all) {
    free(all->x), free(all->labels);
}

float *digit(const digits *all, size_t i) {
    return all->x + i * DIGIT_POINTS;
}
