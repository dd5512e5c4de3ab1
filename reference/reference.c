/* Computes the formulas of normlab.h, group by group, with compensated sums.
 * SPDX-License-Identifier: MIT */
#include "reference.h"
#include "parallel.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Neumaier's sum: `lost` collects the rounding errors of the additions. */
typedef struct sum {
    long double total, lost;
} sum;

static void add(sum *s, long double v) {
    long double t = s->total + v;
    s->lost += fabsl(s->total) >= fabsl(v) ? (s->total - t) + v : (v - t) + s->total;
    s->total = t;
}

static long double value(const sum *s) {
    return isnan(s->lost) ? s->total : s->total + s->lost; /* Inf - Inf is no correction */
}

size_t ref_groups(const nl_problem *p) {
    return p->op == NL_BATCHNORM ? p->c : p->n;
}

static size_t group_size(const nl_problem *p) {
    return p->op == NL_BATCHNORM ? p->n * p->s : p->c;
}

/* The index of element e of group g. feature(): the index of its gamma. */
static size_t at(const nl_problem *p, size_t g, size_t e) {
    return p->op == NL_BATCHNORM ? ((e / p->s) * p->c + g) * p->s + e % p->s : g * p->c + e;
}

static size_t feature(const nl_problem *p, size_t g, size_t e) {
    return p->op == NL_BATCHNORM ? g : e;
}

static bool centred(const nl_problem *p) {
    return p->op == NL_BATCHNORM || p->op == NL_LAYERNORM;
}

long double ref_gain(const nl_problem *p, const float *gamma, size_t j) {
    if (!gamma) return 1;
    return p->op == NL_QWEN2_RMSNORM ? 1 + (long double)gamma[j] : (long double)gamma[j];
}

/* The logistic function, and the derivative of z * sigmoid(z) as a sum of two terms. */
static long double sigmoid(long double z) {
    return z < 0 ? expl(z) / (1 + expl(z)) : 1 / (1 + expl(-z));
}

static long double slope(long double z) {
    return sigmoid(z) + z * sigmoid(z) * sigmoid(-z);
}

long double ref_factor(const nl_problem *p, const float *gamma, const ref_outputs *o, size_t i) {
    const long double gain = ref_gain(p, gamma, i / p->s % p->c);
    return p->op == NL_GATED_RMSNORM ? gain * o->silu[i] : gain;
}

typedef struct job {
    const nl_problem *p;
    const ref_inputs *in;
    const ref_outputs *out;
    bool changed; /* a residual or a gate changes x */
    sum *dgamma, *dgamma_scale, *dbeta, *dbeta_scale;
} job;

static long double changed_input(const job *k, size_t i) {
    const double x = k->in->x[i];
    if (k->p->op == NL_GATE_FIRST_RMSNORM) return x * (k->in->gate[i] * sigmoid(k->in->gate[i]));
    if (k->p->sum == NL_SUM_FLOAT) return (long double)x + k->in->residual[i];
    return ref_round(k->p->dtype, (float)x + (float)k->in->residual[i]);
}

static inline long double input(const job *k, size_t i) {
    return k->changed ? changed_input(k, i) : k->in->x[i];
}

/* Does group g have a NaN or an infinity? With these, x87 arithmetic takes fifty times as long. */
static bool is_spoilt(const job *k, size_t g) {
    const double *residual = k->in->residual;
    const double *gate = k->p->op == NL_GATE_FIRST_RMSNORM ? k->in->gate : NULL;
    bool finite = k->p->pass != NL_INFERENCE ||
                  (isfinite(k->in->running_mean[g]) && isfinite(k->in->running_var[g]));
    for (size_t e = 0; e < group_size(k->p); e++) {
        const size_t i = at(k->p, g, e);
        finite = finite && isfinite(k->in->x[i]) && (!residual || isfinite(residual[i])) &&
                 (!gate || isfinite(gate[i]));
    }
    return !finite;
}

/* A NaN or an infinity makes every sum NaN or infinite, so double suffices. If centred, all results
 * are NaN; otherwise finite values become 0 or, if there is a NaN, NaN. In inference finite values
 * may stay finite. Then (x - mean) * rstd, computed in double from floats, is off by less than
 * 2^-50. */
static void normalize_spoilt(const job *k, size_t g) {
    const nl_problem *p = k->p;
    const ref_outputs *o = k->out;
    const size_t m = group_size(p);
    const bool given = p->pass == NL_INFERENCE;
    const double mean = given ? k->in->running_mean[g] : centred(p) ? NAN : 0;
    double magnitudes = 0, squares = 0;
    for (size_t e = 0; e < m; e++) {
        const double x = (double)input(k, at(p, g, e));
        magnitudes += fabs(x), squares += (x - mean) * (x - mean);
    }
    const double var = given ? k->in->running_var[g] : squares, rstd = 1 / sqrt(var + p->eps);
    o->magnitude[g] = magnitudes / m, o->mean[g] = mean, o->var[g] = var, o->rstd[g] = rstd;
    for (size_t e = 0; e < m; e++) {
        const size_t i = at(p, g, e);
        o->xhat[i] = ((double)input(k, i) - mean) * rstd;
    }
}

/* Statistics and xhat of group g. The mean is mean + rest; rest is the rounding error of `mean`. */
static void normalize_numbers(const job *k, size_t g) {
    const nl_problem *p = k->p;
    const ref_outputs *o = k->out;
    size_t m = group_size(p);
    long double mean = 0, rest = 0;
    sum xs = {0, 0}, ds = {0, 0}, squares = {0, 0}, magnitudes = {0, 0};

    for (size_t e = 0; e < m; e++) {
        long double x = input(k, at(p, g, e));
        add(&xs, x);
        add(&magnitudes, fabsl(x));
    }
    o->magnitude[g] = value(&magnitudes) / m;
    if (p->pass == NL_INFERENCE) {
        mean = k->in->running_mean[g];
        o->var[g] = k->in->running_var[g];
    } else {
        if (centred(p)) {
            mean = value(&xs) / m;
            for (size_t e = 0; e < m; e++) add(&ds, input(k, at(p, g, e))), add(&ds, -mean);
            rest = value(&ds) / m;
        }
        for (size_t e = 0; e < m; e++) {
            long double d = input(k, at(p, g, e)) - mean - rest;
            add(&squares, d * d);
        }
        o->var[g] = value(&squares) / m;
    }
    o->mean[g] = mean + rest;
    o->rstd[g] = 1 / sqrtl(o->var[g] + p->eps);
    for (size_t e = 0; e < m; e++) {
        size_t i = at(p, g, e);
        o->xhat[i] = (double)((input(k, i) - mean - rest) * o->rstd[g]);
    }
}

static void normalize(const job *k, size_t g) {
    const nl_problem *p = k->p;
    const ref_outputs *o = k->out;
    const size_t m = group_size(p);
    is_spoilt(k, g) ? normalize_spoilt(k, g) : normalize_numbers(k, g);
    for (size_t e = 0; (o->sum || k->in->gate) && e < m; e++) {
        size_t i = at(p, g, e);
        if (o->sum) o->sum[i] = (double)input(k, i);
        if (k->in->gate) o->silu[i] = (double)(k->in->gate[i] * sigmoid(k->in->gate[i]));
    }
    if (!o->running_mean || p->pass != NL_FORWARD) return;
    long double stored = p->biased_running_var ? o->var[g] : o->var[g] * m / (m - 1);
    long double w = p->momentum;
    o->running_mean[g] = (1 - w) * k->in->running_mean[g] + w * o->mean[g];
    o->running_var[g] = (1 - w) * k->in->running_var[g] + w * stored;
}

/* A factor of a scale. The result is not 0, so that the scale can be divided by it. */
static double at_least_tiny(double v) {
    return v < 0x1p-300 ? 0x1p-300 : v;
}

double ref_silu_scale(const ref_outputs *o, size_t i) {
    return at_least_tiny(fabs(o->silu[i]));
}

/* Sets dgate[i] and, if the gate comes first, dx[i], which held the gradient of x * silu(gate). */
static void differentiate_gate(const job *k, size_t g, size_t i) {
    const ref_outputs *o = k->out;
    const nl_problem *p = k->p;
    const long double z = k->in->gate[i], s = sigmoid(z), x = k->in->x[i];
    const long double gained = ref_gain(p, k->in->gamma, feature(p, g, i % p->c)) * k->in->dy[i];
    const bool first = p->op == NL_GATE_FIRST_RMSNORM;
    const long double xhat = o->xhat[i];
    o->slope_scale[i] = at_least_tiny((double)(s + fabsl(z) * s * sigmoid(-z)));
    o->dgate[i] = (double)((first ? o->dx[i] * x : gained * xhat) * slope(z));
    o->dgate_scale[i] =
        (double)((first ? o->dx_scale[i] * fabsl(x) : fabsl(gained) * fmaxl(1, fabsl(xhat))) *
                 o->slope_scale[i]);
    if (first) o->dx[i] *= o->silu[i], o->dx_scale[i] *= ref_silu_scale(o, i);
}

/* Are all terms of dx of group g finite? */
static bool is_finite_gradient(const job *k, size_t g) {
    const ref_outputs *o = k->out;
    bool finite = o->rstd[g] > 0; /* and not a NaN */
    for (size_t e = 0; finite && e < group_size(k->p); e++) {
        const size_t i = at(k->p, g, e);
        finite = isfinite((double)ref_factor(k->p, k->in->gamma, o, i) * k->in->dy[i] * o->xhat[i]);
    }
    return finite;
}

/* Like differentiate_numbers(), but in double. */
static void differentiate_spoilt(const job *k, size_t g) {
    const nl_problem *p = k->p;
    const ref_outputs *o = k->out;
    const size_t m = group_size(p);
    const double rstd = (double)o->rstd[g];
    double gs = 0, gxs = 0, abs_gs = 0, abs_gxs = 0;
    for (size_t e = 0; e < m; e++) {
        const size_t i = at(p, g, e);
        const double gdy = (double)ref_factor(p, k->in->gamma, o, i) * k->in->dy[i];
        gs += gdy, gxs += gdy * o->xhat[i];
        abs_gs += fabs(gdy), abs_gxs += fabs(gdy) * fmax(1, fabs(o->xhat[i]));
    }
    if (!centred(p)) gs = abs_gs = 0;
    for (size_t e = 0; e < m; e++) {
        const size_t i = at(p, g, e);
        const double gdy = (double)ref_factor(p, k->in->gamma, o, i) * k->in->dy[i];
        const double xhat = o->xhat[i], past = k->in->dresidual ? k->in->dresidual[i] : 0;
        o->dx[i] = rstd * (gdy - gs / m - xhat * gxs / m) + past;
        o->dx_scale[i] =
            rstd * (fabs(gdy) + abs_gs / m + fmax(1, fabs(xhat)) * abs_gxs / m) + fabs(past);
    }
}

/* dx of group g, and the scale of the error of dx: the sum of the terms' absolute values. A rounded
 * mean shifts every xhat equally, hence max(1, |xhat|). */
static void differentiate_numbers(const job *k, size_t g) {
    const nl_problem *p = k->p;
    const ref_outputs *o = k->out;
    size_t m = group_size(p);
    sum gs = {0, 0}, gxs = {0, 0}, abs_gs = {0, 0}, abs_gxs = {0, 0};

    for (size_t e = 0; e < m; e++) {
        size_t i = at(p, g, e);
        long double gain = ref_factor(p, k->in->gamma, o, i), dy = k->in->dy[i];
        add(&gs, gain * dy);
        add(&gxs, gain * dy * o->xhat[i]);
        add(&abs_gs, fabsl(gain * dy));
        add(&abs_gxs, fabsl(gain * dy) * fmaxl(1, fabsl((long double)o->xhat[i])));
    }
    long double mean_g = centred(p) ? value(&gs) / m : 0, mean_gx = value(&gxs) / m;
    long double mean_abs_g = centred(p) ? value(&abs_gs) / m : 0;
    for (size_t e = 0; e < m; e++) {
        size_t i = at(p, g, e);
        long double gdy = ref_factor(p, k->in->gamma, o, i) * k->in->dy[i];
        long double xhat = o->xhat[i];
        long double past = k->in->dresidual ? k->in->dresidual[i] : 0;
        o->dx[i] = (double)(o->rstd[g] * (gdy - mean_g - xhat * mean_gx) + past);
        o->dx_scale[i] = (double)(o->rstd[g] * (fabsl(gdy) + mean_abs_g +
                                                fmaxl(1, fabsl(xhat)) * value(&abs_gxs) / m) +
                                  fabsl(past));
    }
}

static void differentiate(const job *k, size_t g) {
    is_finite_gradient(k, g) ? differentiate_numbers(k, g) : differentiate_spoilt(k, g);
    for (size_t e = 0; k->in->gate && e < group_size(k->p); e++)
        differentiate_gate(k, g, at(k->p, g, e));
}

static void groups(void *context, size_t begin, size_t end) {
    const job *k = context;
    for (size_t g = begin; g < end; g++) {
        normalize(k, g);
        if (k->p->pass == NL_BACKWARD) differentiate(k, g);
    }
}

/* Like add(), but in double if the result is NaN or infinite. */
static void add_any(sum *s, long double v) {
    const double total = (double)s->total, more = (double)v;
    if (isfinite(total + more))
        add(s, v);
    else
        s->total = total + more;
}

/* dgamma and dbeta of the features `begin` to `end` - 1, in the memory order of the tensor. */
static void features(void *context, size_t begin, size_t end) {
    const job *k = context;
    size_t c = k->p->c, s = k->p->s;
    for (size_t n = 0; n < k->p->n; n++) {
        for (size_t j = begin; j < end; j++) {
            for (size_t i = (n * c + j) * s; i < (n * c + j + 1) * s; i++) {
                long double dy = k->in->dy[i], xhat = k->out->xhat[i];
                long double term = dy * ref_factor(k->p, NULL, k->out, i);
                add_any(&k->dgamma[j], term * xhat);
                add_any(&k->dgamma_scale[j], fabsl(term) * fmaxl(1, fabsl(xhat)));
                add_any(&k->dbeta[j], dy);
                add_any(&k->dbeta_scale[j], fabsl(dy));
            }
        }
    }
    for (size_t j = begin; j < end; j++) {
        k->out->dgamma[j] = value(&k->dgamma[j]);
        k->out->dgamma_scale[j] = value(&k->dgamma_scale[j]);
        k->out->dbeta[j] = value(&k->dbeta[j]);
        k->out->dbeta_scale[j] = value(&k->dbeta_scale[j]);
    }
}

bool ref_compute(const nl_problem *p, const ref_inputs *in, const ref_outputs *out, int threads) {
    job k = {.p = p, .in = in, .out = out};
    k.changed = in->residual || p->op == NL_GATE_FIRST_RMSNORM;
    if (p->n == 0) return true;
    nl_parallel_for(ref_groups(p), threads, groups, &k);
    if (p->pass != NL_BACKWARD) return true;
    sum *sums = calloc(4 * p->c, sizeof *sums);
    if (!sums) return false;
    k.dgamma = sums, k.dgamma_scale = sums + p->c;
    k.dbeta = sums + 2 * p->c, k.dbeta_scale = sums + 3 * p->c;
    nl_parallel_for(p->c, threads, features, &k);
    free(sums);
    return true;
}

const ref_format ref_formats[] = {[NL_F32] = {24, -126, 0x1p-126, 0x1.fffffep127, 0x1p-24},
                                  [NL_F16] = {11, -14, 0x1p-14, 65504, 0x1p-11},
                                  [NL_BF16] = {8, -126, 0x1p-126, 0x1.fep127, 0x1p-8}};

static double power_of_two(int e) {
    const uint64_t bits = (uint64_t)(1023 + e) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

double ref_round_double(nl_dtype t, double v) {
    const ref_format f = ref_formats[t];
    const double size = fabs(v);
    if (v == 0 || isnan(v)) return v;
    if (size > 2 * f.largest) return copysign(INFINITY, v);
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    int last = (int)(bits >> 52) - 1022 - f.bits; /* exponent of the last bit that is kept */
    if (last < f.low + 1 - f.bits) last = f.low + 1 - f.bits;
    const double shift = power_of_two(last + 52); /* from here numbers are 2^last apart */
    const double rounded = size + shift - shift;
    return copysign(rounded > f.largest ? INFINITY : rounded, v);
}

/* First rounds v to double, in the mode "to odd": a second rounding then gives the same result as a
 * single rounding (S. Boldo, G. Melquiond, 2008, "Emulation of FMA and correctly rounded sums:
 * proved algorithms using rounding to odd"). */
long double ref_round(nl_dtype t, long double v) {
    double near = (double)v;
    uint64_t bits;
    memcpy(&bits, &near, sizeof bits);
    if (isfinite(near) && near != v && !(bits & 1)) bits += fabsl(v) > fabs(near) ? 1 : -1;
    memcpy(&near, &bits, sizeof near);
    return ref_round_double(t, near);
}
