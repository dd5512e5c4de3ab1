/* The bounds of the methods, in units of 2^-24, by first-order rounding analysis with constants
 * rounded up. SPDX-License-Identifier: MIT */
#include "verify/expected.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double u = 0x1p-24;

/* The error of silu(gate): exp has 2 units, so sigmoid has at most 5; two products follow. */
enum { SILU = 8 };

bool exact_data(const instance *in) {
    return case_is_exact(in->c);
}

/* Are the data exact, and does the method not round on exact data? */
static bool exact_expected(const instance *in) {
    return exact_data(in) && in->impl && in->impl->method != NL_WELFORD;
}

static bool is_power_of_two(long double v) {
    int exponent;
    return frexpl(v, &exponent) == 0.5L;
}

/* The error, in units, of dividing an exact sum of m terms: a kernel that multiplies by 1 / m
 * rounds twice, unless m is a power of two. */
static double divided(size_t m) {
    return is_power_of_two(m) ? 0 : 2;
}

bound allow_mean(const instance *in, const allowance *a) {
    const double exact = divided(nl_group_size(&in->c->problem));
    if (exact_expected(in)) return (bound){exact, exact};
    return (bound){4 + 2 * a->sum.probable, 4 + 2 * a->sum.certain};
}

/* The kinds of terms that are added up. */
typedef enum term { VALUES, SQUARES, RAW_SQUARES, GRADIENTS, GRADIENTS_XHAT, DGAMMA, DBETA } term;

typedef struct terms {
    const instance *in;
    const ref_outputs *want;
    term term;
    size_t g;     /* the group, or the feature of DGAMMA and DBETA */
    nl_places dy; /* drift() sets this and the members below */
    double rstd, mean;
} terms;

static double term_at(const terms *t, size_t e) {
    const nl_problem *p = &t->in->c->problem;
    const bool column = t->term >= DGAMMA;
    const size_t i = column ? (e / p->s * p->c + t->g) * p->s + e % p->s : nl_element(p, t->g, e);
    const double xhat = t->want->xhat[i];
    if (t->term >= GRADIENTS) {
        const double dy = nl_load(p->dtype, t->in->data->input[NL_DY], nl_place(t->dy, i));
        if (t->term == DBETA) return dy;
        if (column) return dy * xhat * (double)ref_factor(p, NULL, t->want, i);
        const float *gamma = t->in->data->gamma;
        const double gain = (double)ref_factor(p, gamma, t->want, i);
        return gain * dy * (t->term == GRADIENTS ? 1 : xhat);
    }
    const double d = xhat / t->rstd, x = d + t->mean;
    return t->term == VALUES ? x : t->term == SQUARES ? d * d : x * x;
}

/* Adds up m terms in float, in `lanes` sums, and returns the largest error on the way, in units,
 * relative to the sum of the magnitudes. Rounding errors do not average out if a sum is so large
 * that most of a term is lost. */
static double drift(terms *t, size_t m, size_t lanes) {
    enum { STOPS = 64 };
    float sum[LANES_MAX] = {0};
    double exact = 0, magnitude = 0, most = 0;
    const size_t every = (m + STOPS - 1) / STOPS;
    if (t->term >= GRADIENTS)
        t->dy = nl_places_of(&t->in->c->problem, NL_DY);
    else
        t->rstd = (double)t->want->rstd[t->g], t->mean = (double)t->want->mean[t->g];
    for (size_t e = 0, lane = 0, stop = every; e < m; e++) {
        const double v = term_at(t, e);
        float *s = &sum[lane];
        if (++lane == lanes) lane = 0;
        *s = (float)(*s + v), exact += v, magnitude += fabs(v);
        if (e + 1 < stop && e + 1 < m) continue;
        stop += every;
        double total = 0;
        for (size_t l = 0; l < lanes; l++) total += (double)sum[l];
        if (magnitude > 0) most = fmax(most, fabs(total - exact) / magnitude);
        if (!isfinite(total)) return INFINITY;
    }
    return most / u;
}

/* Are rounding errors of sums of these data independent? Errors of 16-bit numbers far from zero are
 * not independent: so few bits vary that the errors repeat. */
static bool is_random(const nl_case *c) {
    const bool far = !*c->data || strncmp(c->data, "offset", 6) == 0;
    if (far && c->problem.dtype != NL_F32) return false;
    return case_is_random(c);
}

/* The relative error of a sum of m terms. The certain bound counts all roundings of a term. In the
 * probable bound, rounding errors average out to the drift, with a deviation of less than 9
 * standard deviations; the factor 2 allows for a deviation of the measured drift as well. */
static bound bound_of_sum(terms t, size_t m) {
    const double lanes = fmin(t.in->impl ? t.in->impl->lanes : 1, (double)m);
    const double chain = (double)m / lanes, certain = chain + lanes;
    double probable = 2 * 9 * sqrt(chain / 3) + lanes;
    if (probable >= certain || !is_random(t.in->c)) return (bound){certain, certain};
    probable += drift(&t, m, (size_t)lanes);
    return (bound){probable < certain ? probable : certain, certain};
}

bound allow_column(const instance *in, const ref_outputs *want, nl_arg which, size_t j) {
    const terms t = {.in = in, .want = want, .term = which == NL_DGAMMA ? DGAMMA : DBETA, .g = j};
    const size_t m = in->c->problem.n * in->c->problem.s;
    bound b = bound_of_sum(t, m);
    if (in->impl && !nl_layers[in->c->problem.op].by_channel) {
        /* A kernel may add up 4 * lanes rows in a plain sum, and such sums in a compensated sum. */
        const double piece = fmin((double)m, 4.0 * in->impl->lanes);
        b = (bound){fmax(b.probable, piece), fmax(b.certain, piece)};
    }
    return b;
}

/* Returns the largest bound of several kinds of terms. kinds: NL_BIT() of each. */
static bound sum_of_group(const instance *in, const ref_outputs *want, size_t g, unsigned kinds) {
    bound most = {0};
    for (term kind = VALUES; kind <= GRADIENTS_XHAT; kind++) {
        if (!(kinds & NL_BIT(kind))) continue;
        const terms t = {.in = in, .want = want, .term = kind, .g = g};
        const bound b = bound_of_sum(t, nl_group_size(&in->c->problem));
        most.probable = fmax(most.probable, b.probable);
        most.certain = fmax(most.certain, b.certain);
    }
    return most;
}

/* The terms of the sums that go into the mean, or into dx. */
static unsigned terms_of(nl_pass pass, nl_method method) {
    const unsigned backward = NL_BIT(GRADIENTS) | NL_BIT(GRADIENTS_XHAT);
    if (pass == NL_BACKWARD)
        return method == NL_REFINED ? backward | NL_BIT(VALUES) | NL_BIT(SQUARES) : backward;
    if (method == NL_SHIFTED) return NL_BIT(VALUES) | NL_BIT(SQUARES);
    return method == NL_ONE_PASS ? NL_BIT(VALUES) | NL_BIT(RAW_SQUARES) : NL_BIT(VALUES);
}

/* The error of the sum of squares, which the root halves in rstd. The certain bound keeps the other
 * half for the rounding of the squares; the probable bound has 2 units for that rounding. */
static bound squares_of_group(const instance *in, const ref_outputs *want, size_t g,
                              nl_method method) {
    const unsigned kind = NL_BIT(method == NL_ONE_PASS ? RAW_SQUARES : SQUARES);
    const bound b = sum_of_group(in, want, g, kind);
    return b.probable < b.certain ? (bound){b.probable / 2 + 2, b.certain} : b;
}

/* The largest distance of a value from the mean, in sigma. */
static double spread(const nl_problem *p, const ref_outputs *want, size_t g) {
    double most = 0;
    for (size_t e = 0; e < nl_group_size(p); e++)
        most = fmax(most, fabs(want->xhat[nl_element(p, g, e)]));
    return most;
}

/* The largest distance, in sigma, of the mean from a mean of at most `terms` values. */
static double shift_of(double terms, double k, double far) {
    return 1 + far + terms * k * u;
}

/* The error, in sigma, of a refined method's first mean: it is rounded, and its sum is shifted by a
 * value of the group, or by a rounded mean of at most 32 values. */
static double refined_mean(double sum, double k, double far) {
    return ((sum + 2) * shift_of(fmin(sum, 32), k, far) + k) * u;
}

/* Finds results that no operation rounds: y of a group of zeros, which is beta; and gradients of
 * exact data if rstd, and for dx also the group's size, is a power of two. */
static void find_exact(const instance *in, const ref_outputs *want, size_t g, allowance *a) {
    enum { LARGEST_EXACT = 64 }; /* sums of g over up to 64 elements fit a float */
    const nl_problem *p = &in->c->problem;
    const size_t m = nl_group_size(p);
    if (p->pass != NL_BACKWARD) {
        a->exact = want->magnitude[g] == 0 && want->mean[g] == 0;
        return;
    }
    const bool saved = !in->impl || in->impl->method != NL_REFINED;
    a->unit_xhat = exact_data(in) && saved && is_power_of_two(want->rstd[g]);
    const bool gate = nl_layers[p->op].gate; /* a kernel's silu may round */
    a->exact = a->unit_xhat && m <= LARGEST_EXACT && is_power_of_two(m) && !gate;
}

/* Does the method's error grow with the mean anyway, so that y may be x * a + b? */
static bool may_fold(nl_method method) {
    return method != NL_REFINED && method != NL_SHIFTED;
}

/* The error, in units, of y as x * a + b with a = gamma * rstd and b = beta - mean * a: one
 * rounding each of x * a, mean * a and b. */
static double folded_units(const ref_outputs *want, size_t g) {
    const double far = 3 * (double)fabsl(want->mean[g] * want->rstd[g]);
    return isfinite(far) ? far : 0;
}

/* Returns the error of xhat and stores the error of rstd. sum, squares: the errors of the sums of
 * values and of squares. In two passes, an error of the mean enters rstd by its square. far: the
 * largest distance of a value from the mean; raw: E[x^2] over the variance. */
static double statistics_units(nl_method method, double sum, double squares, double k, double far,
                               double raw, double *rstd) {
    const double shift = shift_of(sum, k, far), off = (sum + 2) * k;
    const double wrong = refined_mean(sum, k, far);
    switch (method) {
    case NL_SHIFTED:
        *rstd = squares + (sum + 2) * 2 * shift * shift;
        return *rstd + (sum + 2) * shift;
    case NL_ONE_PASS: *rstd = squares + (sum + 2) * 2 * raw; return *rstd + off;
    case NL_WELFORD: return *rstd = squares + 2 * off;
    case NL_TWO_PASS: *rstd = squares + off * off * u / 2; return *rstd + off;
    default:
        *rstd = squares + (squares + 2 * sum) * wrong * wrong + (sum + 2) * wrong;
        return *rstd;
    }
}

bool leaves_range(double sum) {
    return isfinite(sum) && sum > FLT_MAX / 4;
}

/* Do the sums of a group's gradients, times xhat or x - mean, leave float's range? The scale of dx
 * contains the means of |g| and |g * xhat|, times rstd. */
static bool sums_overflow(const nl_problem *p, const ref_outputs *want, size_t g) {
    const size_t m = nl_group_size(p), i = nl_element(p, g, 0);
    const long double rstd = want->rstd[g];
    const long double sigma = rstd < 1 ? 1 / rstd : 1;
    const bool channel = nl_layers[p->op].by_channel; /* BatchNorm sums dy without the gain */
    return (rstd > 0 && leaves_range(norm_dx_scale(p, want, i) / rstd * m * sigma)) ||
           (channel && leaves_range(want->dgamma_scale[g] * sigma));
}

/* The error of xhat, in units, if silu(gate) multiplies x before the norm and exp is subnormal:
 * silu's error times |x| * rstd, which is |xhat / silu|. INFINITY: x is infinite, and silu may be 0
 * in float, so the product is Inf or NaN. */
static double lost_in_silu(const nl_problem *p, const ref_outputs *want, size_t g) {
    const double off = SILU_SUBNORMAL * 0x1p-150;
    double most = 0;
    for (size_t e = 0; e < p->c; e++) {
        const size_t i = nl_element(p, g, e);
        const double silu = fabs(want->silu[i]), xhat = fabs(want->xhat[i]);
        if (isinf(want->magnitude[g]) && isnan(xhat) && silu <= off) return INFINITY;
        if (silu > 0 && silu < (double)SILU_SUBNORMAL * FLT_MIN) most = fmax(most, xhat / silu);
    }
    return most * off / u;
}

allowance allow(const instance *in, const ref_outputs *want, size_t g) {
    const nl_problem *p = &in->c->problem;
    const bool centred = nl_layers[p->op].centred, backward = p->pass == NL_BACKWARD;
    const size_t m = nl_group_size(p);
    const nl_method method = in->impl ? in->impl->method : NL_TWO_PASS;
    const double rstd = (double)want->rstd[g], magnitude = (double)want->magnitude[g];
    const double square = (double)(want->var[g] + want->mean[g] * want->mean[g]);
    const bound eight = {8, 8};
    const int gate = nl_layers[p->op].gate;
    allowance a = {.units = eight, .rstd = eight};
    const bool first = gate == NL_GATE_FIRST;
    const double silu = SILU + (first ? lost_in_silu(p, want, g) : 0);
    /* v = x * silu is off, so rstd is off by the mean of |v * error| times rstd^2 */
    if (first && !backward) a.rstd.probable = a.rstd.certain += silu;
    if (gate) a.units.probable = a.units.certain += first && !backward ? 2 * silu : SILU;
    a.promised = !(in->impl && in->impl->demonstration) && isfinite(silu);
    if (backward && sums_overflow(p, want, g)) a.promised = false;
    const double least = backward ? want->dx_scale[nl_element(p, g, 0)] : 1;
    if (gate == NL_GATE_LAST && least > 0 && least < rstd * 0x1p-100)
        a.promised = false; /* every g of the row may be subnormal */
    find_exact(in, want, g, &a);
    a.folds = !backward && may_fold(method);
    const double folded = a.folds && centred ? folded_units(want, g) : 0;
    a.units.probable += folded, a.units.certain += folded;
    if (p->pass == NL_INFERENCE && a.units.probable * u >= 0.5) a.promised = false;
    /* if all of x is 0, backward still sums dy, unless rstd is not finite */
    const bool zeros = want->magnitude[g] == 0 && (!backward || !isfinite(rstd));
    /* NaN and Inf have no bound: only their class is compared. */
    if (!isfinite(magnitude) || !isfinite(square) || zeros) return a;
    if (centred) a.kappa = magnitude * rstd;

    bool safe = in->impl && in->impl->range_safe;
    bool over = square * (double)m > FLT_MAX / 4 || magnitude * (double)m > FLT_MAX / 4;
    bool under = square < 0x1p-100 && p->eps < 0x1p-100f;
    if ((over || under) && !safe) a.promised = false;
    if (p->pass == NL_INFERENCE) return a;
    a.sum = sum_of_group(in, want, g, terms_of(p->pass, method));
    const bound root = backward ? a.sum : squares_of_group(in, want, g, method);
    if (exact_expected(in) && !backward) {
        const double mean = may_fold(method) ? divided(m) * a.kappa : 0;
        const double root = method == NL_ONE_PASS ? divided(m) * 1.5 * square * rstd * rstd : 0;
        a.units.probable = a.units.certain = a.units.certain + mean + root;
        a.rstd.probable = a.rstd.certain = a.rstd.certain + root;
        return a;
    }
    const bool shifted = centred && (method == NL_SHIFTED || method == NL_REFINED);
    const double kappa = a.kappa, far = shifted ? spread(p, want, g) : 0;
    if (backward && centred) /* the rounding error of the saved mean */
        a.kappa = (double)fabsl((float)want->mean[g] - want->mean[g]) * rstd / u;
    if (backward && gate) a.kappa = silu; /* xhat, or dy * silu(gate), has silu's error */
    const bool raw = backward && centred && method == NL_ONE_PASS; /* sums of g and g * x */
    const double mean_of_raw = raw ? (double)fabsl(want->mean[g] * want->rstd[g]) : 0;
    const double sums[] = {a.sum.probable, a.sum.certain};
    const double roots[] = {root.probable, root.certain};
    double *units[] = {&a.units.probable, &a.units.certain};
    double *of_rstd[] = {&a.rstd.probable, &a.rstd.certain};
    double *of_sum[] = {&a.sum.probable, &a.sum.certain};
    for (int i = 0; i < 2; i++) {
        const double sum = sums[i];
        double k = a.kappa, its_rstd = roots[i];
        if (backward && method == NL_REFINED) /* recomputes the statistics */
            k = 3 + sum + (sum + 2) * refined_mean(sum, kappa, far);
        if (backward)
            *units[i] += sum + 4 * k + (2 * sum + 8) * mean_of_raw;
        else if (!centred)
            *units[i] += roots[i];
        else
            *units[i] +=
                statistics_units(method, sum, roots[i], k, far, square * rstd * rstd, &its_rstd);
        if (backward && i == 0) a.kappa = k + 2 * mean_of_raw;
        /* x + residual is itself a rounded sum; dresidual is added last */
        if (in->c->residual) *units[i] += backward ? 1 : 2 * (1 + k);
        *of_rstd[i] += its_rstd + (in->c->residual ? 2 * (1 + k) : 0);
        if (method == NL_SHIFTED && !backward) /* the sum is of x - K */
            *of_sum[i] *= fmax(1, shift_of(sum, k, far) / k);
    }
    if (!(a.units.probable * u < 0.5)) a.promised = false;
    return a;
}
