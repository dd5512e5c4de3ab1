/* Compares the reference's gradients with difference quotients of its forward pass, and with
 * identities of exact gradients. SPDX-License-Identifier: MIT */
#include "layer.h"
#include "runs.h"

#include <criterion/parameterized.h>
#include <float.h>

static run r, other; /* not shared: every test runs in its own process */

/* The loss of r: sum(dy * y), and with dresidual also sum(dresidual * residual_out). */
static long double loss(void) {
    long double sum = 0;
    compute(&r, NL_FORWARD, 1);
    for (size_t i = 0; i < r.p.n * r.p.c * r.p.s; i++) {
        sum += r.dy[i] * (gain(&r, i) * r.out.xhat[i] + (double)r.beta[feature(&r.p, i)]);
        if (r.dresidual) sum += (long double)r.dresidual[i] * r.out.sum[i];
    }
    return sum;
}

static void judge_slope(const char *what, size_t i, long double slope, long double got,
                        long double error) {
    if (!near(got, slope, error))
        cr_assert_fail("%s %zux%zux%zu: %s[%zu] = %.12Lg, but the slope of the loss is %.12Lg",
                       nl_op_name(r.p.op), r.p.n, r.p.c, r.p.s, what, i, got, slope);
}

/* Compares the slope of the loss along each element of v with the gradient `got`. */
static void judge_slopes(const char *what, double *v, const double *got, const double *scale,
                         size_t count) {
    const double h = 0x1p-13;
    for (size_t i = 0; i < count; i++) {
        const double keep = v[i];
        v[i] = keep + h;
        long double up = loss();
        v[i] = keep - h;
        judge_slope(what, i, (up - loss()) / (2 * h), got[i], 0x1p-20L * scale[i]);
        v[i] = keep;
    }
}

/* Central differences. The error of a quotient for x is h^2 = 2^-26 and the rounding of xhat. For
 * gamma and beta it is only rounding, because the loss is linear in both. */
Test(gradients, gradients_are_slopes) {
    static const struct kind easy = {"easy", 0.5, 1, 0.25f, false};
    static double dresidual[MAX];
    for (int i = 0; i < MAX; i++) dresidual[i] = 1.5 - i % 7;
    for (size_t k = 0; k < 4 * NL_OPS; k++) {
        if (!fill(&r, (nl_op)(k / 4), &easy, shapes[k % 4])) continue;
        if (r.fused) r.dresidual = dresidual;
        other = r;
        compute(&other, NL_BACKWARD, 1);
        const size_t count = r.p.n * r.p.c * r.p.s;
        judge_slopes("dx", r.x, other.out.dx, other.out.dx_scale, count);
        if (is_gated(&r.p))
            judge_slopes("dgate", r.gate, other.out.dgate, other.out.dgate_scale, count);
        for (size_t j = 0; j < 2 * r.p.c; j++) {
            float *v = j & 1 ? &r.beta[j / 2] : &r.gamma[j / 2], keep = *v, h = 0x1p-3f;
            const long double *got = j & 1 ? other.out.dbeta : other.out.dgamma;
            const long double *scale = j & 1 ? other.out.dbeta_scale : other.out.dgamma_scale;
            *v = keep + h;
            long double up = loss();
            *v = keep - h;
            judge_slope(j & 1 ? "dbeta" : "dgamma", j / 2, (up - loss()) / (2 * h), got[j / 2],
                        0x1p-40L * (scale[j / 2] + fabsl(up)));
            *v = keep;
        }
    }
}

/* A scale is at least as large as its number, and no larger than its terms allow. The gradients
 * satisfy sum(dx) = 0 and sum(dx * xhat) = r * sum(g * xhat) * eps / (var + eps). */
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
