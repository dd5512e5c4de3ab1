/* Compares the reference's gradients with identities of exact gradients.
 * SPDX-License-Identifier: MIT */
#include "layer.h"
#include "runs.h"

#include <criterion/parameterized.h>
#include <float.h>

static run r, other; /* not shared: every test runs in its own process */

/* A scale is at least as large as its number, and no larger than its terms allow. The gradients
 * satisfy sum(dx) = 0 and sum(dx * xhat) = rstd * sum(g * xhat) * eps / (var + eps), with
 * g = gain * dy. */
Test(gradients, scales_and_sums_of_gradients) {
    for (size_t k = 0; k < 4 * NL_OPS * KINDS; k++) {
        if (!fill(&r, (nl_op)(k / 4 % NL_OPS), &kinds[k / 4 / NL_OPS], shapes[k % 4])) continue;
        compute(&r, NL_BACKWARD, 1);
        bool centred = is_centred(&r.p);
        const char *wrong = NULL;
        long double largest_x = 1, largest_silu = 1;
        for (size_t g = 0; g < ref_groups(&r.p); g++) {
            size_t m = group_size(&r.p);
            long double rstd = r.out.rstd[g], most_g = 0, most_x = 1;
            long double dx = 0, dxx = 0, gx = 0, scale = 0;
            for (size_t i = 0; i < m; i++) {
                size_t at = element(&r.p, g, i);
                double xhat = r.out.xhat[at];
                if (is_gated(&r.p)) largest_silu = fmaxl(largest_silu, fabs(r.out.silu[at]));
                if (r.p.op == NL_GATE_FIRST_RMSNORM) /* the gradient of x * silu */
                    r.out.dx[at] /= r.out.silu[at], r.out.dx_scale[at] /= fabs(r.out.silu[at]);
                most_g = fmaxl(most_g, fabs(gain(&r, at) * r.dy[at]));
                most_x = fmaxl(most_x, fabs(xhat));
                dx += r.out.dx[at], dxx += (long double)r.out.dx[at] * xhat;
                gx += gain(&r, at) * r.dy[at] * xhat, scale += r.out.dx_scale[at];
            }
            largest_x = fmaxl(largest_x, most_x);
            for (size_t i = 0; i < m; i++) {
                double scale = r.out.dx_scale[element(&r.p, g, i)];
                if (!(scale >= fabs(r.out.dx[element(&r.p, g, i)]))) wrong = "dx exceeds its scale";
                if (!(scale > 0 && scale <= 1.001L * rstd * most_g * (2 + most_x * most_x)))
                    wrong = "the scale of dx";
            }
            if (!(r.out.magnitude[g] * (1 + 0x1p-50L) >= fabsl(r.out.mean[g])))
                wrong = "magnitude below |mean|";
            if (!(r.out.var[g] >= 0 && rstd > 0)) wrong = "var or rstd";
            if (centred && !near(dx, 0, scale * 0x1p-48L)) wrong = "sum(dx)";
            long double rest = rstd * gx * r.p.eps * rstd * rstd;
            if (!near(dxx, rest, scale * most_x * 0x1p-46L)) wrong = "sum(dx * xhat)";
        }
        for (size_t j = 0; j < r.p.c; j++) {
            long double dgamma = r.out.dgamma_scale[j], dbeta = r.out.dbeta_scale[j];
            if (!(dgamma >= fabsl(r.out.dgamma[j]) &&
                  dgamma <= 1.001L * largest_x * largest_silu * dbeta))
                wrong = "the scale of dgamma";
            if (!(dbeta >= fabsl(r.out.dbeta[j]) && dbeta <= 4.5L * r.p.n * r.p.s))
                wrong = "the scale of dbeta"; /* no |dy| exceeds 4.5 */
        }
        if (wrong)
            cr_assert_fail("%s, %s: %s", nl_op_name(r.p.op), kinds[k / 4 / NL_OPS].name, wrong);
    }
}

/* Scaling x by 2^k and eps by 4^k changes only exponents. Three threads give one thread's bits. */
Test(gradients, scaling_and_threads) {
    static const int scales[] = {0, -20, 7, 30};
    for (size_t k = 0; k < NL_OPS * 4 * 4; k++) {
        int scale = scales[k % 4];
        if (!fill(&r, (nl_op)(k / 16), &kinds[2], shapes[k / 4 % 4])) continue;
        compute(&r, NL_BACKWARD, 1);
        other = r;
        memset(&other.out, 0, sizeof other.out);
        other.p.eps = ldexpf(r.p.eps, 2 * scale);
        for (size_t i = 0; i < MAX; i++) {
            other.x[i] = ldexp(r.x[i], scale), other.residual[i] = ldexp(r.residual[i], scale);
            r.out.dx[i] = ldexp(r.out.dx[i], -scale);
        }
        compute(&other, NL_BACKWARD, scale ? 1 : 3);
        bool right = !memcmp(other.out.xhat, r.out.xhat, sizeof r.out.xhat) &&
                     !memcmp(other.out.dx, r.out.dx, sizeof r.out.dx);
        for (size_t j = 0; j < r.p.c; j++)
            right = right && other.out.dgamma[j] == r.out.dgamma[j] &&
                    other.out.dbeta[j] == r.out.dbeta[j];
        cr_assert(right, "%s: scaling by 2^%d changes more than exponents", nl_op_name(r.p.op),
                  scale);
    }
}
