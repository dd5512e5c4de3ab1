/* SPDX-License-Identifier: MIT */
#include "models/step.h"
#include "models/block.h"
#include "models/gru.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct arena {
    float *base;
    size_t used;
} arena;

/* Takes whole cache lines; without a base it only counts them. */
static float *take(void *from, size_t count) {
    arena *a = from;
    float *at = a->base ? a->base + a->used : NULL;
    a->used += (count + 15) / 16 * 16;
    return at;
}

static size_t layout(step *s, float *base) {
    arena a = {base, 0};
    size_t n = s->rows * s->shape.width, c = s->shape.width;
    s->x = take(&a, n), s->h = take(&a, n), s->y = take(&a, n);
    if (s->training) s->dy = take(&a, n), s->dx = take(&a, n), s->dh = take(&a, n);
    for (size_t i = 0; i < STEP_NORMS; i++) {
        norm_place *p = &s->norms[i];
        p->gamma = take(&a, c), p->beta = take(&a, c);
        p->mean = take(&a, s->rows), p->rstd = take(&a, s->rows);
        p->dgamma = take(&a, c), p->dbeta = take(&a, c);
    }
    (s->shape.heads ? block_layout : gru_layout)(s, take, &a);
    return a.used;
}

static step empty(const step_shape *shape, size_t rows, size_t past, bool training) {
    return (step){.shape = *shape, .rows = rows, .past = past, .training = training};
}

size_t step_bytes(const step_shape *shape, size_t rows, size_t past, bool training) {
    step s = empty(shape, rows, past, training);
    return layout(&s, NULL) * sizeof(float);
}

/* Uniform with a given variance; a simple generator, because there are hundreds of millions. */
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
    size_t count = layout(s, NULL), c = shape->width, n = rows * c;
    s->room = aligned_alloc(64, count * sizeof *s->room);
    if (!s->room) return false;
    layout(s, s->room);
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
