/* SPDX-License-Identifier: MIT */
#include "cli/compute.h"
#include "reference.h"
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

static bool no_memory(void) {
    return options_fail("out of memory for the computation");
}

/* Sets the statistics that forward would have saved. Its y goes into memory that is free again. */
static nl_status save_statistics(const computation *c, float *mean, float *rstd, void *y) {
    nl_problem p = c->p;
    p.pass = NL_FORWARD;
    const nl_forward_args a = {.x = c->in[NL_X],
                               .gate = c->in[NL_GATE],
                               .y = y,
                               .mean = mean,
                               .rstd = rstd};
    return nl_forward(NULL, &p, &a, c->threads);
}

static nl_status backward(const computation *c, float *statistics, void *y) {
    float *rstd = statistics + nl_group_count(&c->p);
    float *mean = nl_layers[c->p.op].centred ? statistics : NULL;
    const nl_status status = save_statistics(c, mean, rstd, y);
    if (status != NL_OK) return status;
    const nl_backward_args a = {.x = c->in[NL_X],
                                .dy = c->in[NL_DY],
                                .dresidual = c->in[NL_RESIDUAL],
                                .gate = c->in[NL_GATE],
                                .gamma = c->in[NL_GAMMA],
                                .mean = mean,
                                .rstd = rstd,
                                .dx = c->out[NL_DX],
                                .dgate = c->out[NL_DGATE],
                                .dgamma = c->out[NL_DGAMMA],
                                .dbeta = c->out[NL_DBETA]};
    return nl_backward(c->impl, &c->p, &a, c->threads);
}

static nl_status forward(const computation *c) {
    const bool training = c->p.pass == NL_FORWARD;
    const nl_forward_args a = {.x = c->in[NL_X],
                               .residual = c->in[NL_RESIDUAL],
                               .gate = c->in[NL_GATE],
                               .gamma = c->in[NL_GAMMA],
                               .beta = c->in[NL_BETA],
                               .y = c->out[NL_Y],
                               .residual_out = c->out[NL_RESIDUAL_OUT],
                               .mean = c->out[NL_MEAN],
                               .rstd = c->out[NL_RSTD],
                               .running_mean = training ? c->out[NL_RUNNING_MEAN]
                                                        : (void *)c->in[NL_RUNNING_MEAN],
                               .running_var = training ? c->out[NL_RUNNING_VAR]
                                                       : (void *)c->in[NL_RUNNING_VAR]};
    return nl_forward(c->impl, &c->p, &a, c->threads);
}

static void put_tensor(const computation *c, nl_arg to, const double *from) {
    for (size_t i = 0; c->out[to] && i < c->p.n * c->p.c * c->p.s; i++)
        nl_store(c->p.dtype, c->out[to], i, (float)ref_round(c->p.dtype, from[i]));
}

static void put_y(const computation *c, const ref_outputs *o) {
    const nl_problem *p = &c->p;
    const float *gamma = c->in[NL_GAMMA], *beta = c->in[NL_BETA];
    for (size_t i = 0; c->out[NL_Y] && i < p->n * p->c * p->s; i++) {
        const size_t j = nl_feature_of(p, i);
        long double normal = o->xhat[i];
        if (p->casting == NL_CAST_BEFORE_WEIGHT) normal = ref_round(p->dtype, normal);
        const long double y = ref_factor(p, gamma, o, i) * normal + (beta ? beta[j] : 0);
        nl_store(p->dtype, c->out[NL_Y], i, (float)ref_round(p->dtype, y));
    }
}

/* The reference's arrays: tensors of double, then values of groups or features. */
enum { X, RESIDUAL, DY, GATE, XHAT, SUM, DX, DX_GAUGE, SILU, SLOPE, DGATE, DGATE_GAUGE, TENSORS };
enum { MEAN, VAR, RSTD, MAGNITUDE, OF_C_1, OF_C_2, OF_C_3, OF_C_4, VECTORS };

static bool by_reference(const computation *c, double *d, long double *v) {
    const nl_problem *p = &c->p;
    const size_t count = p->n * p->c * p->s, groups = nl_group_count(p);
    const size_t most = groups > p->c ? groups : p->c;
    static const nl_arg tensors[] =
        {[X] = NL_X, [RESIDUAL] = NL_RESIDUAL, [DY] = NL_DY, [GATE] = NL_GATE};
    const double *in[4] = {NULL};
    for (int k = X; k <= GATE; k++) {
        if (!c->in[tensors[k]]) continue;
        in[k] = d + (size_t)k * count;
        for (size_t i = 0; i < count; i++)
            d[(size_t)k * count + i] = nl_load(p->dtype, c->in[tensors[k]], i);
    }
    const bool back = p->pass == NL_BACKWARD, updates = c->out[NL_RUNNING_MEAN];
    long double *of_c = v + OF_C_1 * most;
    const ref_inputs inputs = {.x = in[X],
                               .residual = back ? NULL : in[RESIDUAL],
                               .gate = in[GATE],
                               .dy = in[DY],
                               .dresidual = back ? in[RESIDUAL] : NULL,
                               .gamma = c->in[NL_GAMMA],
                               .beta = c->in[NL_BETA],
                               .running_mean = c->in[NL_RUNNING_MEAN],
                               .running_var = c->in[NL_RUNNING_VAR]};
    ref_outputs o = {.xhat = d + XHAT * count,
                     .sum = back ? NULL : d + SUM * count,
                     .mean = v + MEAN * most,
                     .var = v + VAR * most,
                     .rstd = v + RSTD * most,
                     .magnitude = v + MAGNITUDE * most,
                     .silu = d + SILU * count,
                     .slope_scale = d + SLOPE * count,
                     .dgate = d + DGATE * count,
                     .dgate_scale = d + DGATE_GAUGE * count};
    if (updates) o.running_mean = of_c, o.running_var = of_c + most;
    if (back) {
        o.dx = d + DX * count, o.dx_scale = d + DX_GAUGE * count;
        o.dgamma = of_c, o.dgamma_scale = of_c + 2 * most;
        o.dbeta = of_c + most, o.dbeta_scale = of_c + 3 * most;
    }
    if (!ref_compute(p, &inputs, &o, c->threads)) return no_memory();
    if (back)
        put_tensor(c, NL_DX, o.dx), put_tensor(c, NL_DGATE, o.dgate);
    else
        put_y(c, &o), put_tensor(c, NL_RESIDUAL_OUT, o.sum);
    const long double *from[NL_ARGS] = {[NL_MEAN] = o.mean,
                                        [NL_RSTD] = o.rstd,
                                        [NL_RUNNING_MEAN] = o.running_mean,
                                        [NL_RUNNING_VAR] = o.running_var,
                                        [NL_DGAMMA] = o.dgamma,
                                        [NL_DBETA] = o.dbeta};
    for (nl_arg a = 0; a < NL_ARGS; a++) { /* without rows the implementation's mean is kept */
        const size_t values = nl_args[a].extent == NL_GROUPS ? groups : p->c;
        for (size_t i = 0; from[a] && c->out[a] && count && i < values; i++)
            ((float *)c->out[a])[i] = (float)from[a][i];
    }
    return true;
}

bool compute(const computation *c) {
    const nl_problem *p = &c->p;
    const size_t count = p->n * p->c * p->s;
    const size_t most = nl_group_count(p) > p->c ? nl_group_count(p) : p->c;
    const bool back = p->pass == NL_BACKWARD;
    float *statistics = calloc(2 * most + 1, sizeof *statistics);
    void *y = back ? malloc(nl_bytes(p, NL_TENSOR) + 1) : NULL;
    double *d = c->reference ? calloc(count + 1, TENSORS * sizeof *d) : NULL;
    long double *v = c->reference ? calloc(most + 1, VECTORS * sizeof *v) : NULL;
    bool ok = statistics && (y || !back) && ((d && v) || !c->reference);
    if (!ok) {
        no_memory();
    } else { /* for the reference too, because the library checks the problem */
        ok = (back ? backward(c, statistics, y) : forward(c)) == NL_OK ||
             options_fail("%s", nl_message());
        ok = ok && (!c->reference || by_reference(c, d, v));
    }
    free(statistics), free(y), free(d), free(v);
    return ok;
}
