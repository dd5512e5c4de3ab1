/* The reference computes in long double. This file uses double where it can, because x87 arithmetic
 * takes fifty times as long with NaN and infinities. Double's rounding errors are 2^-29 of a
 * float's. SPDX-License-Identifier: MIT */
#include "verify/expected.h"
#include "parallel.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool expectations_make(const instance *in, const ref_outputs *want, expectations *out) {
    const size_t groups = ref_groups(&in->c->problem);
    *out = (expectations){.in = in, .want = want};
    out->stored[NL_DGAMMA] = out->stored[NL_DBETA] = in->c->problem.parameters;
    out->ratio = (double)(ref_unit(NL_F32) / ref_unit(in->c->problem.dtype));
    out->allowed = malloc((groups + 1) * sizeof *out->allowed);
    for (size_t g = 0; out->allowed && g < groups; g++) {
        const allowance a = out->allowed[g] = allow(in, want, g);
        out->kappa = fmax(out->kappa, a.kappa), out->promised += a.promised;
        if (isfinite(want->rstd[g])) out->rstd = fmax(out->rstd, (double)want->rstd[g]);
        out->exact += a.unit_xhat;
    }
    return out->allowed != NULL;
}

void expectations_free(expectations *d) {
    free(d->allowed);
    d->allowed = NULL;
}

bool expected_has(const instance *in, nl_arg s) {
    return in->at[s] && (nl_passes[in->c->problem.pass].writes & NL_BIT(s));
}

void expected_name(const nl_problem *p, nl_arg s, size_t i, char *text, size_t size) {
    const size_t row = i / (p->c * p->s), feature = i / p->s % p->c;
    if (nl_args[s].extent != NL_TENSOR)
        snprintf(text, size, "%s[%zu]", nl_args[s].name, i);
    else if (p->s == 1)
        snprintf(text, size, "%s[%zu][%zu]", nl_args[s].name, row, feature);
    else
        snprintf(text, size, "%s[%zu][%zu][%zu]", nl_args[s].name, row, feature, i % p->s);
}

size_t expected_count(const nl_problem *p, nl_arg s) {
    const nl_extent of = nl_args[s].extent;
    return of == NL_TENSOR ? p->n * p->c * p->s : of == NL_GROUPS ? nl_group_count(p) : p->c;
}

static bound just(double units) {
    return (bound){units, units};
}

static double unit_of(nl_dtype t) {
    return (double)ref_unit(t);
}

static double smallest_normal(nl_dtype t) {
    return (double)ref_smallest_normal(t);
}

static double factor_of(const expectations *d, size_t i) {
    return (double)ref_factor(&d->in->c->problem, d->in->data->gamma, d->want, i);
}

static double gain_of(const expectations *d, size_t feature) {
    return (double)ref_gain(&d->in->c->problem, d->in->data->gamma, feature);
}

/* Returns the larger number, or b if a is NaN. fmax() is slower. */
static double larger(double a, double b) {
    return a > b ? a : b;
}

/* more + times * b */
static bound scaled(double more, double times, bound b) {
    return (bound){more + times * b.probable, more + times * b.certain};
}

static expected_value exactly(nl_dtype t, double want, double scale, bound allowed, bool promised) {
    return (expected_value){t, want, want, want, scale, allowed, NAN, promised, false};
}

/* Returns the blur: how far a float with an error of `units` may be off before it is rounded to 16
 * bits. Below the normal numbers errors are absolute. */
static double blur_of(nl_dtype t, double units, double scale) {
    return t == NL_F32 ? NAN : units * 0x1p-24 * larger(scale, smallest_normal(NL_F32));
}

/* Is v a float? If so, the last operation does not round it. */
static bool is_float(double v) {
    return (float)v == v;
}

/* An operation on subnormal numbers is off by 2^-150, which later factors multiply. */
static void add_underflow(expected_value *out, double times) {
    const double off = times * 0x1p-150;
    const double more =
        off / (unit_of(out->dtype) * larger(out->scale, smallest_normal(out->dtype)));
    if (!isfinite(more)) return;
    out->allowed.probable += more, out->allowed.certain += more;
    out->blur += off;
}

/* A kernel may compute gain * rstd first, which may leave float's range although the result does
 * not. This factor multiplies numbers of size `size`. A kernel may divide the factor by `by`, and
 * then multiply numbers `by` times as large. */
static void fold(const expectations *d, size_t g, double gain, double size, size_t by,
                 expected_value *out) {
    const double whole = fabs(gain) * (double)d->want->rstd[g], factor = whole / by;
    if (isfinite(whole) && whole > FLT_MAX) out->promised = false;
    if (isinf(whole)) out->loose = true; /* x * inf - mean * inf */
    if (!(factor < FLT_MIN && factor > 0)) return;
    add_underflow(out, size * by);
    out->loose = true; /* the factor may be 0, and 0 * inf is NaN */
}

/* The error of the norm's dx from operations on subnormal numbers, in 2^-150. A product with x -
 * mean is multiplied by rstd twice. */
static double norm_underflow(const expectations *d, size_t i, size_t g, double gain) {
    const double rstd = d->want->rstd[g];
    const double scale = larger(fabs(d->want->xhat[i]), 1) + 1;
    return 4 * rstd * larger(rstd, 1) * larger(gain, 1) * scale;
}

static expected_value expected_dx(const expectations *d, size_t i, size_t g) {
    const nl_problem *p = &d->in->c->problem;
    const ref_outputs *w = d->want;
    const allowance *a = &d->allowed[g];
    const double gain = fabs(factor_of(d, i));
    const int gate = nl_layers[p->op].gate;
    const bool first = gate == NL_GATE_FIRST;
    double rstd = w->rstd[g], most = gain;
    if (gate == NL_GATE_LAST) /* gain * dy * silu in any order */
        most = larger(most, larger(fabs(w->silu[i]), fabs(gain_of(d, nl_feature_of(p, i)))));
    const double underflow = norm_underflow(d, i, g, most);
    expected_value out =
        exactly(p->dtype, w->dx[i], w->dx_scale[i], scaled(1, d->ratio, a->units), a->promised);
    out.promised = out.promised && !leaves_range(out.scale) &&
                   !leaves_range(norm_dx_scale(p, w, i)); /* one of its terms may be infinite */
    out.blur = blur_of(p->dtype, a->exact ? 0 : 1 + a->units.probable, out.scale);
    if (first) /* silu multiplies the norm's dx, which is rounded */
        add_underflow(&out, (1 + underflow) * fabs(w->silu[i]));
    else if (!a->exact)
        add_underflow(&out, underflow);
    /* BatchNorm's factor of x - mean may be subnormal */
    if (nl_layers[p->op].by_channel && !a->exact) add_underflow(&out, gain * fabs(w->xhat[i]));
    if (d->in->impl &&
        d->in->impl->method == NL_ONE_PASS) /* the error of b in a * dy + b * x + c */
        add_underflow(&out, 4 * larger(rstd * rstd, 1) *
                                (fabs(w->xhat[i]) / rstd + fabs((double)w->mean[g])));
    if (nl_layers[p->op].gate && w->silu[i] != 0)
        add_underflow(&out, SILU_SUBNORMAL * out.scale / fabs(w->silu[i]));
    if (nl_layers[p->op].by_channel && leaves_range(out.scale / gain))
        out.promised = false; /* dy * rstd may overflow before the gain */
    if (nl_layers[p->op].by_channel && gain > 0)
        fold(d, g, gain, out.scale / rstd / gain, nl_group_size(p), &out);
    return out;
}

/* Adds the error of (sum of dy * x - mean * sum of dy) * rstd, whose terms the mean enlarges. */
static void add_one_pass(const expectations *d, size_t i, expected_value *out) {
    const ref_outputs *w = d->want;
    const double terms = (double)(fabs((double)w->mean[i]) * w->rstd[i] * w->dbeta_scale[i] /
                                  larger(out->scale, smallest_normal(NL_F32)));
    const bound sum = allow_column(d->in, w, NL_DBETA, i);
    if (!isfinite(terms)) return;
    out->allowed.probable += terms * (2 * sum.probable + 8);
    out->allowed.certain += terms * (2 * sum.certain + 8);
}

/* The error of dgamma's terms dy * silu * xhat from subnormal numbers, in 2^-150: silu's error, and
 * the error of dy * silu. */
static double silu_underflow(const expectations *d, size_t feature) {
    const nl_problem *p = &d->in->c->problem;
    const nl_places at = nl_places_of(p, NL_DY);
    double sum = 0;
    for (size_t i = feature; i < p->n * p->c; i += p->c) {
        const double dy = nl_load(p->dtype, d->in->data->input[NL_DY], nl_place(at, i));
        sum += (SILU_SUBNORMAL * fabs(dy) + 1) * larger(fabs(d->want->xhat[i]), 1);
    }
    return sum;
}

static expected_value expected_dgamma(const expectations *d, size_t i) {
    const nl_problem *p = &d->in->c->problem;
    const ref_outputs *w = d->want;
    const double scale = w->dgamma_scale[i];
    const bound b = d->exact == ref_groups(p)
                        ? just(nl_layers[p->op].gate ? 16 : 8)
                        : scaled(8 + 2 * d->kappa, 1, allow_column(d->in, w, NL_DGAMMA, i));
    expected_value out = exactly(NL_F32, w->dgamma[i], scale, b,
                                 d->promised == ref_groups(p) && !leaves_range(scale));
    if (nl_layers[p->op].by_channel && d->in->impl && d->in->impl->method == NL_ONE_PASS)
        add_one_pass(d, i, &out);
    add_underflow(&out, (double)(p->n * p->s) * fmax(1, d->rstd));
    if (nl_layers[p->op].gate == NL_GATE_LAST) add_underflow(&out, silu_underflow(d, i));
    return out;
}

/* dgate is a gradient times silu's derivative, which is off by up to 11 units. */
static expected_value expected_dgate(const expectations *d, size_t i, size_t g) {
    const allowance *a = &d->allowed[g];
    const ref_outputs *w = d->want;
    const nl_problem *p = &d->in->c->problem;
    const nl_dtype t = p->dtype;
    const bound units = scaled(16, 1, a->units);
    const bool first = nl_layers[p->op].gate == NL_GATE_FIRST;
    const double slope = w->slope_scale[i], before = w->dgate_scale[i] / slope;
    const double gain = fabs(gain_of(d, nl_feature_of(p, i)));
    const double xhat = larger(fabs(w->xhat[i]), 1);
    expected_value out =
        exactly(t, w->dgate[i], w->dgate_scale[i], scaled(1, d->ratio, units), a->promised);
    out.promised = out.promised && !leaves_range(before) && !leaves_range(norm_dx_scale(p, w, i));
    /* Inf times a derivative that may be 0 in float */
    out.loose = first || slope <= SILU_SUBNORMAL * 0x1p-150;
    out.blur = blur_of(t, 1 + units.probable, out.scale);
    add_underflow(&out, SILU_SUBNORMAL * before);
    if (first) /* the norm's dx, times x */
        add_underflow(&out, (1 + norm_underflow(d, i, g, gain)) * slope * before /
                                norm_dx_scale(p, w, i));
    else /* gain * dy * xhat, in any order: the third factor multiplies the first product's error */
        add_underflow(&out, slope * (1 + larger(larger(xhat, gain), before / (gain * xhat))));
    return out;
}

static expected_value expected_y(const expectations *d, size_t i, size_t g) {
    const allowance *a = &d->allowed[g];
    const nl_problem *p = &d->in->c->problem;
    const double ratio = d->ratio;
    const float *beta = d->in->data->beta;
    const nl_dtype t = p->dtype;
    const size_t j = nl_feature_of(p, i);
    double gain = factor_of(d, i), shift = beta ? beta[j] : 0, x = d->want->xhat[i];
    expected_value out = exactly(t, gain * x + shift, fabs(gain) * larger(fabs(x), 1) + fabs(shift),
                                 scaled(1, ratio, a->units), a->promised);
    const double off = a->units.probable * 0x1p-24 * larger(fabs(x), 1);
    if (leaves_range(fabs(x))) out.promised = false; /* eps = 0: xhat itself overflows */
    if (a->folds &&
        leaves_range(fabs(gain) * (fabs((double)d->want->mean[g]) * (double)d->want->rstd[g] + 1)))
        out.promised = false; /* the shift of x * a + b leaves the range */
    out.loose = isinf(gain);  /* NaN from an xhat near 0, or inf - inf if folded */
    out.blur = blur_of(t, a->exact ? 0 : 1 + a->units.probable, out.scale);
    const double before = fabs(gain_of(d, j)) * larger(fabs(x), 1);
    const bool gated = nl_layers[p->op].gate == NL_GATE_LAST;
    /* silu's error; and gain * xhat * silu, in any order, as for dgate */
    const double off_gate =
        gated ? SILU_SUBNORMAL * before + larger(fabs(d->want->silu[i]), fabs(x)) : 0;
    if (gated && leaves_range(before)) out.promised = false; /* the product with gamma */
    if (gated) add_underflow(&out, off_gate);
    if (nl_layers[p->op].by_channel || a->folds)
        fold(d, g, gain, fabs(x) / (double)d->want->rstd[g], 1, &out);
    if (p->casting != NL_CAST_BEFORE_WEIGHT || t == NL_F32) return out;
    /* near a tie xhat may be rounded up or down */
    const double rounded = ref_round_double(t, x);
    const double one = gain * ref_round_double(t, x - off) + shift,
                 two = gain * ref_round_double(t, x + off) + shift;
    out.want = gain * rounded + shift;
    out.low = fmin(one, two), out.high = fmax(one, two);
    const double few = gated ? 11 : 3; /* units of the products, and of silu */
    out.allowed = just(1 + few * ratio);
    const bool exact = is_float(gain) && is_float(gain * rounded) && is_float(out.want);
    out.blur = blur_of(t, exact ? 0 : few, out.scale);
    if (gated) add_underflow(&out, off_gate);
    return out;
}

/* The bound of residual_out: a sum in float, rounded once or twice. */
static bound of_residual_out(const expectations *d) {
    return just(d->in->c->problem.dtype == NL_F32 ? 1 : 1 + 2 * d->ratio);
}

nl_dtype expected_type(const expectations *d, nl_arg s) {
    return nl_args[s].extent == NL_TENSOR ? d->in->c->problem.dtype : d->stored[s];
}

/* Converts the expectation of a gradient to its stored type. */
static expected_value stored(const expectations *d, nl_arg s, expected_value f32) {
    const nl_dtype t = expected_type(d, s);
    if (t == NL_F32) return f32;
    f32.allowed = scaled(1, unit_of(NL_F32) / unit_of(t), f32.allowed);
    f32.dtype = t;
    return f32;
}

expected_value expected_at(const expectations *d, nl_arg s, size_t i) {
    const nl_problem *p = &d->in->c->problem;
    const ref_outputs *w = d->want;
    const nl_dtype t = expected_type(d, s);
    const bool column = s == NL_DGAMMA || s == NL_DBETA;
    const size_t g = nl_args[s].extent == NL_TENSOR ? nl_group_of(p, i) : column ? 0 : i;
    const allowance *a = &d->allowed[g];
    expected_value out;
    switch (s) {
    case NL_Y: return expected_y(d, i, g);
    case NL_RESIDUAL_OUT:
        out = exactly(t, w->sum[i], fabs(w->sum[i]), of_residual_out(d), true);
        out.blur = blur_of(t, is_float(out.want) ? 0 : 1, out.scale);
        return out;
    case NL_DX: return expected_dx(d, i, g);
    case NL_DGATE: return expected_dgate(d, i, g);
    case NL_MEAN: return exactly(t, w->mean[i], w->magnitude[i], allow_mean(d->in, a), a->promised);
    case NL_RSTD: return exactly(t, w->rstd[i], w->rstd[i], scaled(1, 1, a->rstd), a->promised);
    case NL_DGAMMA: return stored(d, s, expected_dgamma(d, i));
    case NL_DBETA:
        return stored(d, s,
                      exactly(NL_F32, w->dbeta[i], w->dbeta_scale[i],
                              exact_data(d->in) ? just(0)
                                                : scaled(2, 1, allow_column(d->in, w, s, i)),
                              !leaves_range(w->dbeta_scale[i])));
    default: break;
    }
    const size_t m = nl_group_size(p);
    const float *mean = d->in->data->input[NL_RUNNING_MEAN],
                *var = d->in->data->input[NL_RUNNING_VAR];
    double momentum = p->momentum, more = m > 1 ? m / (m - 1.0) : 1;
    if (s == NL_RUNNING_MEAN)
        return exactly(t, w->running_mean[i], fabs(mean[i]) + momentum * w->magnitude[i],
                       scaled(8, 2, a->sum), a->promised);
    return exactly(t, w->running_var[i], fabs(var[i]) + momentum * more * (w->var[i] + p->eps),
                   scaled(8, 2, a->rstd), a->promised);
}

double expected_floor(const expectations *d, nl_arg s, size_t g) {
    if (s == NL_RESIDUAL_OUT) return of_residual_out(d).probable;
    return d->allowed[g].promised ? 1 + d->ratio * d->allowed[g].units.probable : -1;
}

static plain plain_of(double want, nl_dtype t, double scale, bool simple) {
    const double unit = unit_of(t) * larger(scale, smallest_normal(t));
    if (!isfinite(want)) return (plain){want, simple};
    return (plain){want, simple && isfinite(unit) ? 1 / unit : 0};
}

/* Is v so far from the ends of float's range that a product of three such numbers stays in it? */
static bool is_ordinary(double v) {
    return fabs(v) > 1e-9 && fabs(v) < 1e9;
}

/* Given ordinary gain and xhat, are all numbers of the group ordinary, and none an interval? */
static bool is_ordinary_group(const expectations *d, size_t g) {
    const nl_problem *p = &d->in->c->problem;
    const ref_outputs *w = d->want;
    return !nl_layers[p->op].gate && is_ordinary(w->rstd[g]) &&
           fabs((double)(w->mean[g] * w->rstd[g])) < 1e9 &&
           (p->casting != NL_CAST_BEFORE_WEIGHT || p->dtype == NL_F32);
}

/* The plain part of a number whose factors are ordinary: as expected_dx() or expected_y() computes
 * it, without the tests of float's range. */
static plain ordinary_plain(const expectations *d, size_t i, size_t j, double gain) {
    const nl_problem *p = &d->in->c->problem;
    const ref_outputs *w = d->want;
    if (p->pass == NL_BACKWARD) return plain_of(w->dx[i], p->dtype, w->dx_scale[i], true);
    const float *beta = d->in->data->beta;
    const double shift = beta ? beta[j] : 0, x = w->xhat[i];
    return plain_of(gain * x + shift, p->dtype, fabs(gain) * larger(fabs(x), 1) + fabs(shift),
                    true);
}

/* Makes the plain part of number i, of group g and feature j. */
static plain make_plain(const expectations *d, size_t i, size_t g, size_t j, bool ordinary) {
    const nl_problem *p = &d->in->c->problem;
    const ref_outputs *w = d->want;
    const bool backward = p->pass == NL_BACKWARD;
    const double gain = gain_of(d, j);
    if (ordinary && is_ordinary(gain) && fabs(w->xhat[i]) < 1e9 &&
        (!backward || w->dx_scale[i] < 1e9))
        return ordinary_plain(d, i, j, gain);
    const expected_value it = backward ? expected_dx(d, i, g) : expected_y(d, i, g);
    return plain_of(it.low, it.dtype, it.scale,
                    it.promised && !(it.low < it.high) && !(it.loose && isfinite(it.low)));
}

typedef struct plains {
    const expectations *d;
    plain *y, *sums; /* NULL: none */
    size_t run;      /* length of a run of numbers of one group */
} plains;

static void make_plains(void *context, size_t begin, size_t end) {
    const plains *k = context;
    const nl_problem *p = &k->d->in->c->problem;
    const double *sum = k->d->want->sum;
    for (size_t r = begin; r < end; r++) {
        const size_t g = nl_group_of(p, r * k->run);
        const bool ordinary = k->y && is_ordinary_group(k->d, g);
        for (size_t e = 0, i = r * k->run; e < k->run; e++, i++) {
            const size_t feature = nl_layers[p->op].by_channel ? g : e;
            if (k->y) k->y[i] = make_plain(k->d, i, g, feature, ordinary);
            if (k->sums) k->sums[i] = plain_of(sum[i], p->dtype, fabs(sum[i]), true);
        }
    }
}

void expected_make_plain(const nl_case *c, const nl_data *data, answer *a) {
    const nl_problem *p = &c->problem;
    const instance in = {.c = c, .data = data};
    const size_t count = p->n * p->c * p->s, groups = ref_groups(p);
    const size_t run = nl_layers[p->op].by_channel ? p->s : p->c;
    expectations d = {.in = &in,
                      .want = &a->want,
                      .allowed = malloc((groups + 1) * sizeof(allowance))};
    a->plain = malloc((count + 1) * sizeof *a->plain);
    d.ratio = unit_of(NL_F32) / unit_of(p->dtype);
    for (size_t g = 0; d.allowed && g < groups; g++) /* a kernel that folds has the largest bound */
        d.allowed[g] = (allowance){.promised = true, .folds = p->pass != NL_BACKWARD};
    if (!d.allowed) free(a->plain), a->plain = NULL;
    if (a->want.sum) a->sums = malloc((count + 1) * sizeof *a->sums);
    nl_parallel_for(run ? count / run : 0, data_threads(p), make_plains,
                    &(plains){&d, a->plain, a->sums, run});
    free(d.allowed);
}

/* Returns a little less than half of the distance to the next number of type t; 0: subnormal. */
static double half_spacing(nl_dtype t, double got) {
    uint64_t bits;
    double power;
    memcpy(&bits, &got, sizeof bits);
    const uint64_t fraction = bits << 12;
    bits &= 0x7ff0000000000000;
    memcpy(&power, &bits, sizeof power);
    if (!(power >= smallest_normal(t))) return 0;
    return power * unit_of(t) * (fraction ? 1 - 1e-9 : 0.5 - 1e-9);
}

bool expected_near(nl_dtype t, const plain *it, double floor, double got, double error) {
    return error < floor * (1 - 1e-6) &&
           (t == NL_F32 || fabs(got - it->want) < half_spacing(t, got));
}

/* Rounding keeps the order of numbers, so a stored number lies between the rounded ends of the
 * float's interval. Ends within half of got's spacing round to got. */
bool expected_rounded(const expected_value *d, double got) {
    if (isnan(d->blur) || !isfinite(d->low) || !isfinite(d->high)) return true;
    const double unit = unit_of(d->dtype), least = fabs(got) * unit / 2;
    if (fabs(got - d->low) < least && fabs(got - d->high) < least) return true; /* fast */
    int exponent;
    const double fraction = fabs(frexp(got, &exponent)); /* below a power of two, ulps halve */
    const double half = ldexp(unit, exponent - (fraction > 0.5 ? 1 : 2));
    if (got != 0 && fabs(got - d->low) < half && fabs(got - d->high) < half) return true;
    return got >= ref_round_double(d->dtype, d->low - d->blur) &&
           got <= ref_round_double(d->dtype, d->high + d->blur);
}

bool expected_met(const expected_value *d, double got) {
    return error_units(d->dtype, got, d->low, d->high, d->scale) <= d->allowed.probable &&
           expected_rounded(d, got);
}

double error_units(nl_dtype d, double got, double low, double high, double scale) {
    if (isnan(low) || isnan(got)) return isnan(low) && isnan(got) ? 0 : INFINITY;
    double v = got;
    if (isinf(got)) {
        double too_large = (double)ref_largest(d) * (1 + unit_of(d));
        if (!signbit(low) == !signbit(got) && fabs(low) >= too_large)
            return 0; /* the right value overflows this storage type, or is infinite itself */
        v = copysign(too_large, got);
    }
    double miss = v < low ? low - v : v > high ? v - high : 0;
    double error = miss / (unit_of(d) * larger(scale, smallest_normal(d)));
    return isnan(error) ? INFINITY : error;
}
