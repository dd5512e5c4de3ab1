/* How exact are gradients? Shows, for every implementation with a backward pass, the error of dx
 * against the mean, and the error of dgamma and dbeta against the number of rows. Also shows the
 * error of a difference quotient against its step. SPDX-License-Identifier: MIT */
#include "studies/study.h"
#include "verify/verify.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Makes the data and the answer of a case; false: out of memory. */
static bool prepare(const char *text, nl_case *c, nl_data *data, answer *want) {
    char error[700];
    if (!case_parse(text, c, error, sizeof error) || !data_make(c, data, error, sizeof error))
        return false;
    return answer_make(c, data, want) || (data_free(data), false);
}

/* The largest error of DX, DGAMMA or DBETA, in the units of `normlab check`. */
static double largest(const instance *in, const ref_outputs *want, nl_arg s) {
    double error = 0;
    for (size_t i = 0; i < in->data->bytes[s] / sizeof(float); i++) {
        long double v = s == NL_DX       ? want->dx[i]
                        : s == NL_DGAMMA ? want->dgamma[i]
                                         : want->dbeta[i];
        long double scale = s == NL_DX       ? want->dx_scale[i]
                            : s == NL_DGAMMA ? want->dgamma_scale[i]
                                             : want->dbeta_scale[i];
        error = fmax(error, error_units(NL_F32, ((float *)in->at[s])[i], v, v, scale));
    }
    return error;
}

/* Emits points at x for the gradients `first` to `last` of every implementation of the case. */
static bool all_impls(study_out *o, const char *text, nl_arg first, nl_arg last, double x) {
    nl_case c;
    nl_data data;
    answer a;
    if (!prepare(text, &c, &data, &a)) return false;
    bool enough = true;
    for (size_t i = 0; enough && i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        instance in;
        char series[128];
        if (!nl_accepts(m, &c.problem) || !nl_isa_runs(m->isa)) continue;
        enough = instance_make(&c, &data, m, nl_scratch_bytes(m, &c.problem), PLACE_END, &in);
        if (!enough) break;
        enough = instance_call(&in, 1) == NL_OK;
        snprintf(series, sizeof series, "%s, %s@%s", nl_op_name(c.problem.op), m->name, m->isa);
        for (nl_arg s = first; enough && s <= last; s++)
            if (in.at[s]) study_point(o, nl_args[s].name, series, x, largest(&in, &a.want, s));
        instance_free(&in);
    }
    answer_free(&a);
    data_free(&data);
    return enough;
}

static const struct sweep {
    const char *format; /* a case; %zu is kappa for dx, else rows */
    size_t from, to, quick_to;
    nl_arg first, last;
} sweeps[] = {
    {"layernorm/backward/f32/64x1024/offset:%zu", 1, 1 << 22, 1 << 22, NL_DX, NL_DX},
    {"rmsnorm/backward/f32/64x1024/offset:%zu", 1, 1 << 22, 1 << 22, NL_DX, NL_DX},
    {"batchnorm/backward/f32/1024x64/offset:%zu", 1, 1 << 22, 1 << 22, NL_DX, NL_DX},
    {"layernorm/backward/f32/%zux64/normal", 16, 1 << 16, 1 << 12, NL_DGAMMA, NL_DBETA},
    {"rmsnorm/backward/f32/%zux64/normal", 16, 1 << 16, 1 << 12, NL_DGAMMA, NL_DBETA},
    {"batchnorm/backward/f32/%zux64/normal", 16, 1 << 16, 1 << 12, NL_DGAMMA, NL_DBETA},
};

/* The loss sum(dy * y) as a function of x. */
enum { WIDTH = 64 };
typedef bool loss_of(const nl_problem *p, const nl_data *d, const double *x, long double *loss);

/* Computes y in float and the sum in double, so that only the error of y shows. */
static bool loss_float(const nl_problem *p, const nl_data *d, const double *x, long double *loss) {
    float rounded[WIDTH], y[WIDTH];
    nl_forward_args a = {.x = rounded, .gamma = d->input[NL_GAMMA], .y = y};
    for (size_t i = 0; i < p->c; i++) rounded[i] = (float)x[i];
    if (nl_forward(NULL, p, &a, 1) != NL_OK) return false;
    double sum = 0;
    for (size_t i = 0; i < p->c; i++) sum += (double)((float *)d->input[NL_DY])[i] * y[i];
    *loss = sum;
    return true;
}

static bool loss_reference(const nl_problem *p, const nl_data *d, const double *x,
                           long double *loss) {
    double xhat[WIDTH];
    long double mean, var, rstd, magnitude;
    ref_inputs in = {.x = x, .gamma = d->input[NL_GAMMA]};
    ref_outputs out = {.xhat = xhat,
                       .mean = &mean,
                       .var = &var,
                       .rstd = &rstd,
                       .magnitude = &magnitude};
    if (!ref_compute(p, &in, &out, 1)) return false;
    *loss = 0; /* does not use out.xhat: a double is too coarse here */
    for (size_t i = 0; i < p->c; i++)
        *loss += ((float *)d->input[NL_DY])[i] * ref_gain(p, in.gamma, i) * ((x[i] - mean) * rstd);
    return true;
}

/* Compares central difference quotients with dx: the rms of their error over the rms of dx. */
static bool quotients(study_out *o, const char *text, const char *series, loss_of *loss) {
    nl_case c;
    nl_data data;
    answer a;
    double x[WIDTH];
    if (!prepare(text, &c, &data, &a)) return false;
    nl_problem p = c.problem;
    p.pass = NL_FORWARD;
    for (size_t i = 0; i < p.c; i++) x[i] = ((float *)data.input[NL_X])[i];
    bool enough = true;
    for (int k = 1; k <= 40; k++) {
        double h = ldexp(1, -k), off = 0, all = 0;
        for (size_t i = 0; enough && i < p.c; i++) {
            long double up, down, dx = a.want.dx[i];
            double at = x[i];
            x[i] = at + h, enough = loss(&p, &data, x, &up);
            x[i] = at - h, enough = enough && loss(&p, &data, x, &down);
            x[i] = at;
            if (!enough) break;
            long double miss = (up - down) / (2 * h) - dx;
            off += (double)(miss * miss), all += (double)(dx * dx);
        }
        if (enough) study_point(o, "quotient", series, h, sqrt(off / all));
    }
    answer_free(&a);
    data_free(&data);
    return enough;
}

static bool run(study_out *o, bool quick) {
    enum { SWEEPS = sizeof sweeps / sizeof *sweeps };
    bool enough = true;
    for (const struct sweep *s = sweeps; s < sweeps + SWEEPS; s++)
        for (size_t v = s->from; enough && v <= (quick ? s->quick_to : s->to); v *= quick ? 4 : 2) {
            char text[CASE_TEXT];
            snprintf(text, sizeof text, s->format, v);
            study_progress(o, (size_t)(s - sweeps), SWEEPS, text);
            enough = all_impls(o, text, s->first, s->last, (double)v);
        }
    static const char *const rows[] = {"layernorm/backward/f32/1x64/normal",
                                       "rmsnorm/backward/f32/1x64/normal"};
    for (size_t i = 0; i < 2; i++) {
        const char *layer = i ? "rmsnorm" : "layernorm";
        char series[64];
        snprintf(series, sizeof series, "%s, float", layer);
        enough = enough && quotients(o, rows[i], series, loss_float);
        snprintf(series, sizeof series, "%s, long double", layer);
        enough = enough && quotients(o, rows[i], series, loss_reference);
    }
    for (int k = 1; k <= 40; k++) {
        double h = ldexp(1, -k);
        study_point(o, "quotient", "guide: h^2 / c", h, h * h / WIDTH);
        study_point(o, "quotient", "guide: u / h, float", h, FLT_EPSILON / 2 / h);
        study_point(o, "quotient", "guide: u / h, long double", h, (double)(LDBL_EPSILON / 2 / h));
    }
    return enough;
}

const study study_gradients =
    {"gradients", "How exact are dx, dgamma and dbeta, and what is a difference quotient worth?",
     run};
