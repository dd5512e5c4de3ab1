/* SPDX-License-Identifier: MIT */
#include "verify/expected.h"
#include "dtype.h"

#include <stdlib.h>

bool answer_room(const nl_problem *p, bool residual, bool gate, bool running, answer *out) {
    size_t elements = p->n * p->c * p->s, groups = ref_groups(p) + 1;
    bool backward = p->pass == NL_BACKWARD;
    size_t tensors = 2 + residual * 2 + backward * 3 + gate * 5, wide = 4 * groups + 6 * (p->c + 1);
    long double *w = malloc(wide * sizeof *w + tensors * (elements + 1) * sizeof(double));
    static unsigned long made;
    *out = (answer){.memory = w, .number = ++made};
    if (!w) return false;
    double *d = (double *)(w + wide), **in = out->input;
    ref_outputs *o = &out->want;
    o->mean = w, o->var = w + groups, o->rstd = w + 2 * groups, o->magnitude = w + 3 * groups;
    w += 4 * groups;
    if (running && p->pass == NL_FORWARD) o->running_mean = w, o->running_var = w + p->c;
    o->dgamma = w + 2 * p->c, o->dgamma_scale = w + 3 * p->c;
    o->dbeta = w + 4 * p->c, o->dbeta_scale = w + 5 * p->c;
    in[NL_X] = d, o->xhat = d + elements, d += 2 * elements;
    if (residual) in[NL_RESIDUAL] = d, o->sum = backward ? NULL : d + elements, d += 2 * elements;
    if (backward)
        in[NL_DY] = d, o->dx = d + elements, o->dx_scale = d + 2 * elements, d += 3 * elements;
    if (gate) {
        in[NL_GATE] = d, o->silu = d + elements, o->slope_scale = d + 2 * elements;
        o->dgate = d + 3 * elements, o->dgate_scale = d + 4 * elements;
    }
    out->in = (ref_inputs){.x = in[NL_X],
                           .residual = backward ? NULL : in[NL_RESIDUAL],
                           .gate = in[NL_GATE],
                           .dy = in[NL_DY],
                           .dresidual = backward ? in[NL_RESIDUAL] : NULL};
    return true;
}

bool answer_make(const nl_case *c, nl_data *data, answer *out) {
    const nl_problem *p = &c->problem;
    const bool backward = p->pass == NL_BACKWARD, running = data->input[NL_RUNNING_MEAN];
    if (!answer_room(p, c->residual, data->input[NL_GATE], running, out)) return false;
    const ref_outputs *o = &out->want;
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!out->input[a]) continue;
        const nl_places of = nl_places_of(p, a);
        for (size_t i = 0; i < p->n * p->c * p->s; i++)
            out->input[a][i] = nl_load(p->dtype, data->input[a], nl_place(of, i));
    }
    out->in.gamma = data->gamma, out->in.beta = data->beta;
    out->in.running_mean = data->input[NL_RUNNING_MEAN];
    out->in.running_var = data->input[NL_RUNNING_VAR];
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
