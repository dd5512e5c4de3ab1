/* SPDX-License-Identifier: MIT */
#include "models/step.h"
#include "base/clock.h"
#include "layer.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns the number of floats taken. */
static size_t layout(step *s) {
    size_t n = s->rows * s->shape.width, c = s->shape.width;
    s->used = 0;
    s->x = step_take(s, n), s->h = step_take(s, n), s->y = step_take(s, n);
    if (s->training) s->dy = step_take(s, n), s->dx = step_take(s, n), s->dh = step_take(s, n);
    for (size_t i = 0; i < STEP_NORMS; i++) {
        norm_place *p = &s->norms[i];
        p->gamma = step_take(s, c), p->beta = step_take(s, c);
        p->mean = step_take(s, s->rows), p->rstd = step_take(s, s->rows);
        p->dgamma = step_take(s, c), p->dbeta = step_take(s, c);
    }
    (s->shape.heads ? block_layout : gru_layout)(s);
    return s->used;
}

static step empty(const step_shape *shape, size_t rows, size_t past, bool training) {
    return (step){.shape = *shape, .rows = rows, .past = past, .training = training};
}

size_t step_bytes(const step_shape *shape, size_t rows, size_t past, bool training) {
    step s = empty(shape, rows, past, training);
    return layout(&s) * sizeof(float);
}

/* Uniform numbers with a given variance. A step needs many millions, so the generator is simple. */
static void fill(float *to, size_t count, double variance, uint32_t seed) {
    uint32_t state = seed * 2654435769u + 1;
    float scale = (float)(sqrt(3 * variance) * 0x1p-31);
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        to[i] = scale * (float)(int32_t)state;
    }
}

bool step_make(step *s, const step_shape *shape, size_t rows, size_t past, bool training) {
    *s = empty(shape, rows, past, training);
    size_t count = layout(s), c = shape->width, n = rows * c;
    s->room = aligned_alloc(64, count * sizeof *s->room);
    if (!s->room) return false;
    layout(s);
    fill(s->room, count, 1 / (double)c, 1); /* the matrices and the cache */
    fill(s->x, n, 1, 2), fill(s->h, n, 0.1, 3);
    if (training) fill(s->dy, n, 1, 4);
    for (size_t i = 0; i < STEP_NORMS; i++)
        for (size_t j = 0; j < c; j++) s->norms[i].gamma[j] += 1;
    return true;
}

void step_free(step *s) {
    free(s->room);
}

void step_forward(step *s) {
    (s->shape.heads ? block_forward : gru_forward)(s);
}

void step_backward(step *s) {
    (s->shape.heads ? block_backward : gru_backward)(s);
}

float *step_take(step *s, size_t count) {
    float *at = s->room ? s->room + s->used : NULL;
    s->used += (count + 15) / 16 * 16; /* whole cache lines */
    return at;
}

void step_norm(step *s, size_t which, const float *x, float *y) {
    norm_place *at = &s->norms[which];
    nl_problem p = {.op = s->op, .n = s->rows, .c = s->shape.width, .s = 1, .eps = 1e-5f};
    nl_forward_args a = {.x = x, .y = y, .gamma = at->gamma, .rstd = s->training ? at->rstd : NULL};
    if (nl_layers[s->op].centred) a.beta = at->beta, a.mean = s->training ? at->mean : NULL;
    char name[64];
    snprintf(name, sizeof name, "%s/unfused", nl_op_name(s->op));
    const nl_impl *impl = s->unfused ? nl_find(name, "c") : NULL;
    double start = clock_ns();
    nl_status status = nl_forward(impl, &p, &a, 1);
    s->norm_ns += status == NL_OK ? clock_ns() - start : NAN;
}

void step_norm_backward(step *s, size_t which, const float *x, const float *dy, float *dx) {
    norm_place *at = &s->norms[which];
    nl_problem p = {.op = s->op, .pass = NL_BACKWARD, .n = s->rows, .c = s->shape.width, .s = 1};
    nl_backward_args a =
        {.x = x, .dy = dy, .gamma = at->gamma, .rstd = at->rstd, .dx = dx, .dgamma = at->dgamma};
    if (nl_layers[s->op].centred) a.mean = at->mean, a.dbeta = at->dbeta;
    double start = clock_ns();
    nl_status status = nl_backward(NULL, &p, &a, 1);
    s->norm_ns += status == NL_OK ? clock_ns() - start : NAN;
}
