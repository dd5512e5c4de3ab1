/* A step of a GRU, forward and backward, with a norm for each gate:
 *     r and z = sigmoid(norm(x W + h U)), c = tanh(norm(x W + r * (h U))), y = (1 - z) * c + z * h
 * SPDX-License-Identifier: MIT */
#include "models/step.h"
#include "models/blas.h"

#include <math.h>
#include <string.h>

/* The gates; weights has GATES matrices for the input, then GATES matrices for the state. */
enum { RESET, UPDATE, CANDIDATE, GATES };
/* Indices into kept: GATES inputs of norms, GATES gates, and h U of the candidate. */
enum { RAW, GATE = RAW + GATES, OF_STATE = GATE + GATES };
enum { D_GATE, D_RAW, D_STATE };

void gru_layout(step *s) {
    size_t c = s->shape.width, n = s->rows * c;
    for (size_t i = 0; i < 2 * GATES; i++) s->weights[i] = step_take(s, c * c);
    for (size_t i = 0; i <= OF_STATE; i++) s->kept[i] = step_take(s, n);
    if (!s->training) return;
    s->dw = step_take(s, c * c);
    for (size_t i = 0; i <= D_STATE; i++) s->work[i] = step_take(s, n);
}

static void linear(const step *s, const float *x, const float *w, float beta, float *y) {
    size_t c = s->shape.width;
    blas_multiply(s->rows, c, c, 1, (matrix){x, c, false}, (matrix){w, c, false}, beta, y, c);
}

/* dx += dy * w'; dw = x' * dy */
static void linear_back(step *s, const float *x, const float *w, const float *dy, float *dx) {
    size_t c = s->shape.width;
    blas_multiply(s->rows, c, c, 1, (matrix){dy, c, false}, (matrix){w, c, true}, 1, dx, c);
    blas_multiply(c, c, s->rows, 1, (matrix){x, c, true}, (matrix){dy, c, false}, 0, s->dw, c);
}

void gru_forward(step *s) {
    size_t n = s->rows * s->shape.width;
    float *const *gate = s->kept + GATE, *of_state = s->kept[OF_STATE];
    for (size_t g = 0; g < GATES; g++) {
        float *raw = s->kept[RAW + g];
        linear(s, s->x, s->weights[g], 0, raw);
        linear(s, s->h, s->weights[GATES + g], g != CANDIDATE, g == CANDIDATE ? of_state : raw);
        for (size_t i = 0; g == CANDIDATE && i < n; i++) raw[i] += gate[RESET][i] * of_state[i];
        step_norm(s, g, raw, gate[g]);
        for (size_t i = 0; i < n; i++)
            gate[g][i] = g == CANDIDATE ? tanhf(gate[g][i]) : 1 / (1 + expf(-gate[g][i]));
    }
    for (size_t i = 0; i < n; i++)
        s->y[i] = gate[CANDIDATE][i] + gate[UPDATE][i] * (s->h[i] - gate[CANDIDATE][i]);
}

void gru_backward(step *s) {
    size_t n = s->rows * s->shape.width;
    float *const *gate = s->kept + GATE, *of_state = s->kept[OF_STATE];
    const float *r = gate[RESET], *z = gate[UPDATE], *c = gate[CANDIDATE], *dy = s->dy;
    float *d = s->work[D_GATE], *raw = s->work[D_RAW], *state = s->work[D_STATE];
    memset(s->dx, 0, n * sizeof *s->dx);
    for (size_t i = 0; i < n; i++)
        s->dh[i] = dy[i] * z[i], d[i] = dy[i] * (1 - z[i]) * (1 - c[i] * c[i]);
    step_norm_backward(s, CANDIDATE, s->kept[RAW + CANDIDATE], d, raw);
    for (size_t i = 0; i < n; i++) state[i] = raw[i] * r[i], d[i] = raw[i] * of_state[i];
    linear_back(s, s->x, s->weights[CANDIDATE], raw, s->dx);
    linear_back(s, s->h, s->weights[GATES + CANDIDATE], state, s->dh);
    for (size_t g = CANDIDATE; g-- > 0;) { /* UPDATE, then RESET; d is RESET's gradient */
        float *by = g == RESET ? d : state;
        for (size_t i = 0; i < n; i++)
            by[i] = (g == RESET ? d[i] : dy[i] * (s->h[i] - c[i])) * gate[g][i] * (1 - gate[g][i]);
        step_norm_backward(s, g, s->kept[RAW + g], by, raw);
        linear_back(s, s->x, s->weights[g], raw, s->dx);
        linear_back(s, s->h, s->weights[GATES + g], raw, s->dh);
    }
}
