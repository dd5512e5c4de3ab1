/* The bounds of the methods, in units of 2^-24, by first-order rounding analysis with constants
 * rounded up. SPDX-License-Identifier: MIT */
#include "verify/bound.h"

#include <float.h>
#include <math.h>
#include <string.h>

bool exact_expected(const instance *in) {
    return strcmp(in->c->data, "exact") == 0 && in->impl && in->impl->method != NL_WELFORD;
}

/* The largest distance of a value from the mean, in sigma. */
static double spread(const nl_problem *p, const ref_outputs *want, size_t g) {
    double most = 0;
    for (size_t e = 0; e < nl_group_size(p); e++)
        most = fmax(most, fabs(want->xhat[nl_element(p, g, e)]));
    return most;
}

allowance allow(const instance *in, const ref_outputs *want, size_t g) {
    const nl_problem *p = &in->c->problem;
    const bool centred = nl_layers[p->op].centred;
    size_t m = nl_group_size(p);
    const double u = 0x1p-24;
    nl_method method = in->impl ? in->impl->method : NL_TWO_PASS;
    double lanes = in->impl ? in->impl->lanes : 1, sum = m / lanes + lanes;
    double rstd = (double)want->rstd[g], magnitude = (double)want->magnitude[g];
    double square = (double)(want->var[g] + want->mean[g] * want->mean[g]);
    allowance a = {.units = 8, .promised = !(in->impl && in->impl->demonstration)};
    /* NaN and Inf have no bound: only their class is compared. */
    if (!isfinite(magnitude) || !isfinite(square) || magnitude == 0) return a;
    if (centred) a.kappa = magnitude * rstd;
    if (p->pass == NL_BACKWARD && method == NL_REFINED) /* recomputes the statistics */
        a.kappa = 3 + sum + (sum + 2) * (sum + 2) * a.kappa * u;
    else if (p->pass == NL_BACKWARD && centred) /* the rounding error of the saved mean */
        a.kappa = (double)fabsl((float)want->mean[g] - want->mean[g]) * rstd / u;

    bool safe = in->impl && in->impl->range_safe;
    bool over = square * m > FLT_MAX / 4 || magnitude * m > FLT_MAX / 4;
    bool under = square < 0x1p-100 && p->eps < 0x1p-100f;
    if ((over || under) && !safe) a.promised = false;
    if (p->pass == NL_INFERENCE) return a;

    if (exact_expected(in) && p->pass == NL_FORWARD) return a;
    double k = a.kappa;
    if (p->pass == NL_BACKWARD) {
        a.units += sum + 4 * k;
    } else if (!centred) {
        a.units += sum;
    } else {
        double shift = method == NL_SHIFTED ? 1 + spread(p, want, g) + sum * k * u : 0;
        switch (method) {
        case NL_SHIFTED: a.units += sum + (sum + 2) * (shift + 2 * shift * shift); break;
        case NL_ONE_PASS: a.units += sum + (sum + 2) * (k + 2 * square * rstd * rstd); break;
        case NL_WELFORD: a.units += sum + 2 * (sum + 2) * k; break;
        case NL_TWO_PASS: a.units += sum + (sum + 2) * k * (1 + (sum + 2) * k * u / 2); break;
        case NL_REFINED: a.units += sum + (sum + 2) * (sum + 2) * k * u; break;
        }
    }
    if (in->c->residual) /* x + residual is itself a rounded sum; dresidual is added last */
        a.units += p->pass == NL_BACKWARD ? 1 : 2 * (1 + k);
    if (!(a.units * u < 0.5)) a.promised = false;
    return a;
}
