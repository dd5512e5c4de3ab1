/* SPDX-License-Identifier: MIT */
#include "verify/expected.h"
#include "dtype.h"

#include <stdlib.h>

bool answer_make(const nl_case *c, nl_data *data, answer *out) {
    const nl_problem *p = &c->problem;
    size_t elements = p->n * p->c * p->s, groups = ref_groups(p) + 1;
    bool backward = p->pass == NL_BACKWARD;
    const bool gate = data->input[NL_GATE];
    size_t tensors = 2 + c->residual * 2 + backward * 3 + gate * 5,
           wide = 4 * groups + 6 * (p->c + 1);
    long double *w = malloc(wide * sizeof *w + tensors * (elements + 1) * sizeof(double));
    static unsigned long made;
    *out = (answer){.memory = w, .number = ++made};
    if (!w) return false;
    double *d = (double *)(w + wide), *x = d, *residual = NULL, *dy = NULL, *z = NULL;
    ref_outputs *o = &out->want;
    o->mean = w, o->var = w + groups, o->rstd = w + 2 * groups, o->magnitude = w + 3 * groups;
    w += 4 * groups;
    if (data->input[NL_RUNNING_MEAN] && p->pass == NL_FORWARD)
        o->running_mean = w, o->running_var = w + p->c;
    o->dgamma = w + 2 * p->c, o->dgamma_scale = w + 3 * p->c;
    o->dbeta = w + 4 * p->c, o->dbeta_scale = w + 5 * p->c;
    o->xhat = d + elements, d += 2 * elements;
    if (c->residual) residual = d, o->sum = backward ? NULL : d + elements, d += 2 * elements;
    if (backward) dy = d, o->dx = d + elements, o->dx_scale = d + 2 * elements, d += 3 * elements;
    if (gate) {
        z = d, o->silu = d + elements, o->slope_scale = d + 2 * elements;
        o->dgate = d + 3 * elements, o->dgate_scale = d + 4 * elements;
    }
    const nl_places of_x = nl_places_of(p, NL_X), of_residual = nl_places_of(p, NL_RESIDUAL),
                    of_dy = nl_places_of(p, NL_DY), of_gate = nl_places_of(p, NL_GATE);
    for (size_t i = 0; i < elements; i++) {
        x[i] = nl_load(p->dtype, data->input[NL_X], nl_place(of_x, i));
        if (residual)
            residual[i] = nl_load(p->dtype, data->input[NL_RESIDUAL], nl_place(of_residual, i));
        if (dy) dy[i] = nl_load(p->dtype, data->input[NL_DY], nl_place(of_dy, i));
        if (z) z[i] = nl_load(p->dtype, data->input[NL_GATE], nl_place(of_gate, i));
    }
    out->in = (ref_inputs){.x = x,
                           .residual = backward ? NULL : residual,
                           .gate = z,
                           .dy = dy,
                           .dresidual = backward ? residual : NULL,
                           .gamma = data->gamma,
                           .beta = data->beta,
                           .running_mean = data->input[NL_RUNNING_MEAN],
                           .running_var = data->input[NL_RUNNING_VAR]};
    if (!ref_compute(p, &out->in, o, data_threads(p))) return answer_free(out), false;
    for (size_t g = 0; backward && p->n && g < ref_groups(p); g++) {
        if (data->input[NL_MEAN]) ((float *)data->input[NL_MEAN])[g] = (float)o->mean[g];
        ((float *)data->input[NL_RSTD])[g] = (float)o->rstd[g];
    }
    return true;
}

void answer_free(answer *a) {
    free(a->memory);
    free(a->plain);
    free(a->sums);
    *a = (answer){0};
}
