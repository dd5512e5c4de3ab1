/* A transformer block, forward and backward: attention with grouped heads, a gated or plain
 * feed-forward part, and a norm before each of them. SPDX-License-Identifier: MIT */
#include "models/step.h"
#include "models/blas.h"

#include <math.h>
#include <string.h>

/* Indices into weights, kept and work. */
enum { QKV, OUT, UP, DOWN };
enum { NORMED1, PROJ, KEYS, VALUES, PROB, ATTENDED, MIDDLE, NORMED2, HIDDEN, ACTIVE };
enum { D_WIDE, D_ACTIVE, D_SCORES, D_ROW };

typedef struct sizes {
    size_t t, all, d, hd; /* new tokens; new and cached tokens; widths of block and head */
    size_t kv, wide, up;  /* widths: keys; queries, keys and values; hidden layer */
} sizes;

static sizes sizes_of(const step *s) {
    const step_shape *h = &s->shape;
    sizes z = {.t = s->rows, .all = s->rows + s->past, .d = h->width, .hd = h->width / h->heads};
    z.kv = z.hd * h->kv_heads, z.wide = z.d + 2 * z.kv, z.up = h->ffn * (h->gated ? 2 : 1);
    return z;
}

void block_layout(step *s) {
    sizes z = sizes_of(s);
    size_t ffn = s->shape.ffn, heads = s->shape.heads, most = z.d * (z.wide > z.up ? z.wide : z.up);
    s->weights[QKV] = step_take(s, z.d * z.wide), s->weights[OUT] = step_take(s, z.d * z.d);
    s->weights[UP] = step_take(s, z.d * z.up), s->weights[DOWN] = step_take(s, ffn * z.d);
    s->kept[NORMED1] = step_take(s, z.t * z.d), s->kept[PROJ] = step_take(s, z.t * z.wide);
    s->kept[KEYS] = step_take(s, z.all * z.kv), s->kept[VALUES] = step_take(s, z.all * z.kv);
    s->kept[PROB] = step_take(s, heads * z.t * z.all), s->kept[ATTENDED] = step_take(s, z.t * z.d);
    s->kept[MIDDLE] = step_take(s, z.t * z.d), s->kept[NORMED2] = step_take(s, z.t * z.d);
    s->kept[HIDDEN] = step_take(s, z.t * z.up), s->kept[ACTIVE] = step_take(s, z.t * ffn);
    if (!s->training) return;
    s->dw = step_take(s, most);
    s->work[D_WIDE] = step_take(s, z.t * (z.wide > z.up ? z.wide : z.up));
    s->work[D_ACTIVE] = step_take(s, z.t * ffn), s->work[D_SCORES] = step_take(s, z.t * z.all);
    s->work[D_ROW] = step_take(s, z.t * z.d);
}

/* y [t][n] = x [t][k] * w [k][n] + beta * y */
static void linear(size_t t, size_t n, size_t k, const float *x, const float *w, float beta,
                   float *y) {
    blas_multiply(t, n, k, 1, (matrix){x, k, false}, (matrix){w, n, false}, beta, y, n);
}

/* dx [t][k] = dy [t][n] * w'; dw [k][n] = x' * dy */
static void linear_back(step *s, size_t n, size_t k, const float *x, const float *w,
                        const float *dy, float *dx) {
    size_t t = s->rows;
    blas_multiply(t, k, n, 1, (matrix){dy, n, false}, (matrix){w, n, true}, 0, dx, k);
    blas_multiply(k, n, t, 1, (matrix){x, k, true}, (matrix){dy, n, false}, 0, s->dw, n);
}

/* Softmax over the first `seen` scores of a row; the other scores become 0. */
static void softmax(float *row, size_t seen, size_t all) {
    float most = row[0], sum = 0;
    for (size_t j = 1; j < seen; j++) most = row[j] > most ? row[j] : most;
    for (size_t j = 0; j < seen; j++) sum += row[j] = expf(row[j] - most);
    for (size_t j = 0; j < seen; j++) row[j] /= sum;
    memset(row + seen, 0, (all - seen) * sizeof *row);
}

static void attend(step *s, sizes z) {
    float *proj = s->kept[PROJ], scale = 1 / sqrtf((float)z.hd);
    for (size_t r = 0; r < z.t; r++) {
        const float *keys = proj + r * z.wide + z.d;
        memcpy(s->kept[KEYS] + (s->past + r) * z.kv, keys, z.kv * sizeof *keys);
        memcpy(s->kept[VALUES] + (s->past + r) * z.kv, keys + z.kv, z.kv * sizeof *keys);
    }
    for (size_t h = 0; h < s->shape.heads; h++) {
        size_t at = h * s->shape.kv_heads / s->shape.heads * z.hd;
        float *prob = s->kept[PROB] + h * z.t * z.all;
        blas_multiply(z.t, z.all, z.hd, scale, (matrix){proj + h * z.hd, z.wide, false},
                      (matrix){s->kept[KEYS] + at, z.kv, true}, 0, prob, z.all);
        for (size_t r = 0; r < z.t; r++) softmax(prob + r * z.all, s->past + r + 1, z.all);
        blas_multiply(z.t, z.hd, z.all, 1, (matrix){prob, z.all, false},
                      (matrix){s->kept[VALUES] + at, z.kv, false}, 0, s->kept[ATTENDED] + h * z.hd,
                      z.d);
    }
}

/* gelu in its tanh form, and its derivative */
static float gelu(float x, float *slope) {
    float u = 0.797884561f * (x + 0.044715f * x * x * x), th = tanhf(u);
    if (slope)
        *slope =
            0.5f * (1 + th) + 0.5f * x * (1 - th * th) * 0.797884561f * (1 + 3 * 0.044715f * x * x);
    return 0.5f * x * (1 + th);
}

static void activate(step *s, sizes z) {
    size_t ffn = s->shape.ffn;
    for (size_t r = 0; r < z.t; r++) {
        const float *a = s->kept[HIDDEN] + r * z.up, *b = a + ffn;
        float *to = s->kept[ACTIVE] + r * ffn;
        for (size_t j = 0; j < ffn; j++)
            to[j] = s->shape.gated ? a[j] / (1 + expf(-a[j])) * b[j] : gelu(a[j], NULL);
    }
}

void block_forward(step *s) {
    sizes z = sizes_of(s);
    size_t bytes = z.t * z.d * sizeof *s->x;
    step_norm(s, 0, s->x, s->kept[NORMED1]);
    linear(z.t, z.wide, z.d, s->kept[NORMED1], s->weights[QKV], 0, s->kept[PROJ]);
    attend(s, z);
    memcpy(s->kept[MIDDLE], s->x, bytes);
    linear(z.t, z.d, z.d, s->kept[ATTENDED], s->weights[OUT], 1, s->kept[MIDDLE]);
    step_norm(s, 1, s->kept[MIDDLE], s->kept[NORMED2]);
    linear(z.t, z.up, z.d, s->kept[NORMED2], s->weights[UP], 0, s->kept[HIDDEN]);
    activate(s, z);
    memcpy(s->y, s->kept[MIDDLE], bytes);
    linear(z.t, z.d, s->shape.ffn, s->kept[ACTIVE], s->weights[DOWN], 1, s->y);
}

static void activate_backward(step *s, sizes z) {
    size_t ffn = s->shape.ffn;
    for (size_t r = 0; r < z.t; r++) {
        const float *a = s->kept[HIDDEN] + r * z.up, *b = a + ffn, *d = s->work[D_ACTIVE] + r * ffn;
        float *da = s->work[D_WIDE] + r * z.up, *db = da + ffn, slope;
        for (size_t j = 0; j < ffn; j++) {
            if (s->shape.gated) {
                float sigmoid = 1 / (1 + expf(-a[j])), silu = a[j] * sigmoid;
                da[j] = d[j] * b[j] * (sigmoid + silu * (1 - sigmoid)), db[j] = d[j] * silu;
            } else {
                gelu(a[j], &slope);
                da[j] = d[j] * slope;
            }
        }
    }
}

/* Computes the gradients of queries, keys and values from d, the gradient of ATTENDED. */
static void attend_backward(step *s, sizes z, const float *d) {
    float *dwide = s->work[D_WIDE], *ds = s->work[D_SCORES], scale = 1 / sqrtf((float)z.hd);
    memset(dwide, 0, z.t * z.wide * sizeof *dwide);
    for (size_t h = 0; h < s->shape.heads; h++) {
        size_t at = h * s->shape.kv_heads / s->shape.heads * z.hd;
        const float *prob = s->kept[PROB] + h * z.t * z.all;
        matrix dh = {d + h * z.hd, z.d, false};
        blas_multiply(z.t, z.all, z.hd, 1, dh, (matrix){s->kept[VALUES] + at, z.kv, true}, 0, ds,
                      z.all);
        blas_multiply(z.all, z.hd, z.t, 1, (matrix){prob, z.all, true}, dh, 1,
                      dwide + z.d + z.kv + at, z.wide);
        for (size_t r = 0; r < z.t; r++) {
            const float *p = prob + r * z.all;
            float *row = ds + r * z.all, sum = 0;
            for (size_t j = 0; j < z.all; j++) sum += p[j] * row[j];
            for (size_t j = 0; j < z.all; j++) row[j] = p[j] * (row[j] - sum);
        }
        blas_multiply(z.t, z.hd, z.all, scale, (matrix){ds, z.all, false},
                      (matrix){s->kept[KEYS] + at, z.kv, false}, 0, dwide + h * z.hd, z.wide);
        blas_multiply(z.all, z.hd, z.t, scale, (matrix){ds, z.all, true},
                      (matrix){s->kept[PROJ] + h * z.hd, z.wide, false}, 1, dwide + z.d + at,
                      z.wide);
    }
}

static void add(float *to, const float *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] += from[i];
}

void block_backward(step *s) {
    sizes z = sizes_of(s);
    size_t n = z.t * z.d;
    float *row = s->work[D_ROW], *dx = s->dx;
    linear_back(s, z.d, s->shape.ffn, s->kept[ACTIVE], s->weights[DOWN], s->dy, s->work[D_ACTIVE]);
    activate_backward(s, z);
    linear_back(s, z.up, z.d, s->kept[NORMED2], s->weights[UP], s->work[D_WIDE], row);
    step_norm_backward(s, 1, s->kept[MIDDLE], row, dx);
    add(dx, s->dy, n); /* the gradient of MIDDLE */
    linear_back(s, z.d, z.d, s->kept[ATTENDED], s->weights[OUT], dx, row);
    attend_backward(s, z, row);
    linear_back(s, z.wide, z.d, s->kept[NORMED1], s->weights[QKV], s->work[D_WIDE], row);
    step_norm_backward(s, 0, s->x, row, row);
    add(dx, row, n);
}
