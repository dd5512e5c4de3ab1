/* SPDX-License-Identifier: MIT */
#include "models/step.h"
#include "base/clock.h"
#include "layer.h"

#include <math.h>
#include <stdio.h>

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
