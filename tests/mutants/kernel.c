/* One kernel for every layer and pass, right unless `wrong` has a mistake for it: short, serial,
 * slow. SPDX-License-Identifier: MIT */
#include "mutants.h"
#include "verify/bound.h"
#include "runs.h"

static wrong w;
static int calls;
static float kept[MAX_GROUP]; /* dgamma of the previous call */

static float plus(float a, float b) {
    return w.half_sums ? nl_round(NL_F16, a + b) : a + b;
}

static float gain_of(const nl_problem *p, const float *gamma, size_t j) {
    bool plus_one = (p->op == NL_QWEN2_RMSNORM) != w.other_gain;
    return !gamma ? 1 : plus_one ? 1 + gamma[j] : gamma[j];
}

static void touch(const nl_problem *p, const nl_forward_args *a) {
    const size_t n = p->n * p->c * p->s, bytes = nl_dtype_bytes(p->dtype);
    const ptrdiff_t at[] = {[PAST] = (ptrdiff_t)(n * bytes), [BEFORE] = -(ptrdiff_t)bytes};
    volatile float seen = w.read_gamma ? a->gamma[p->c] : 0;
    if (w.read) seen += nl_load(p->dtype, (const char *)a->x + at[w.read], 0);
    if (w.write) nl_store(p->dtype, (char *)a->y + at[w.write], 0, 0);
    if (w.write_x) nl_store(p->dtype, (void *)a->x, n / 2, seen);
}

static float sum_at(const nl_problem *p, const nl_forward_args *a, size_t i) {
    float x = nl_load(p->dtype, a->x, i);
    if (!a->residual || w.no_residual) return x;
    x += nl_load(p->dtype, a->residual, i);
    return w.rounded_sum ? nl_round(p->dtype, x) : x;
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    size_t m = group_size(p), groups = ref_groups(p);
    bool inference = p->pass == NL_INFERENCE, cast = p->casting == NL_CAST_BEFORE_WEIGHT;
    bool late = w.right_calls && ++calls > w.right_calls;
    float last = 1;
    (void)threads;
    for (size_t g = 0; g < groups; g++) {
        float mean = 0, var = 0;
        for (size_t e = 0; e < m && is_centred(p); e++)
            mean = plus(mean, sum_at(p, a, element(p, g, e)));
        mean = inference ? a->running_mean[g] : mean / (float)m;
        for (size_t e = 0; e < m; e++) {
            float d = sum_at(p, a, element(p, g, e)) - (w.one_pass ? 0 : mean);
            var = plus(var, d * d);
        }
        var = inference ? a->running_var[g] : var / (float)(w.unbiased ? m - 1 : m);
        if (w.one_pass) var -= mean * mean;
        float rstd = w.eps_outside ? 1 / (sqrtf(var) + p->eps) : 1 / sqrtf(var + p->eps);
        for (size_t e = 0; e < m; e++) {
            size_t i = element(p, g, e), j = feature(p, i);
            float x = sum_at(p, a, i), xhat = (x - mean) * (w.last_rstd ? last : rstd);
            if (cast != w.other_cast) xhat = nl_round(p->dtype, xhat);
            float y = xhat * gain_of(p, a->gamma, w.next_gamma ? (j + 1) % p->c : j);
            if (a->beta) y += a->beta[j];
            x = w.x_for_sum ? nl_load(p->dtype, a->x, i) : x;
            if (a->residual_out) nl_store(p->dtype, a->residual_out, i, x);
            const bool leave[] = {0, 0, 0, i == 7, e >= m / 16 * 16, g == groups - 1};
            y = late || w.y == ZEROS ? 0 : w.y == NANS && i == 7 ? NAN : y;
            if (!leave[w.y]) nl_store(p->dtype, a->y, i, y);
        }
        last = rstd;
        if (a->mean) a->mean[g] = mean + w.mean_off;
        if (a->rstd) a->rstd[g] = rstd * (1 + w.rstd_off);
        if (!a->running_mean || inference || w.old_running) continue;
        float more = p->biased_running_var != w.biased_running ? 1 : (float)m / (float)(m - 1);
        float fresh = w.momentum_swapped ? 1 - p->momentum : p->momentum;
        a->running_mean[g] = (1 - fresh) * a->running_mean[g] + fresh * mean;
        a->running_var[g] = (1 - fresh) * a->running_var[g] + fresh * var * more;
    }
    touch(p, a);
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    size_t m = group_size(p), groups = ref_groups(p);
    size_t share = w.one_threads_dgamma ? (groups + (size_t)threads - 1) / (size_t)threads : groups;
    for (size_t j = 0; j < p->c; j++) {
        if (!w.adds_dgamma) a->dgamma[j] = w.keeps_dgamma ? kept[j] : 0;
        if (a->dbeta) a->dbeta[j] = 0;
    }
    for (size_t g = 0; g < groups; g++) {
        float mean = a->mean ? a->mean[g] : 0, rstd = a->rstd[g], mean_g = 0, mean_gx = 0;
        for (size_t e = 0; e < 2 * m; e++) { /* first the sums, then dx */
            size_t i = element(p, g, e % m), j = feature(p, i);
            float dy = nl_load(p->dtype, a->dy, i), gain = gain_of(p, a->gamma, j);
            float xhat = (nl_load(p->dtype, a->x, i) - mean) * rstd;
            float in = w.gamma_outside ? dy : gain * dy, out = w.gamma_outside ? gain : 1;
            if (e >= m) {
                float means = mean_g * (float)(is_centred(p) + w.more_means);
                float dx = rstd * out * (in - means - xhat * mean_gx);
                if (a->dresidual && !w.no_dresidual) dx += nl_load(p->dtype, a->dresidual, i);
                nl_store(p->dtype, a->dx, i, dx);
                continue;
            }
            if (!w.lost_lane || e % 16 != 7)
                mean_g += in / (float)m, mean_gx += in * xhat / (float)m;
            if (g < share && !(w.lost_run && g / 16 == 1)) a->dgamma[j] += dy * xhat;
            if (a->dbeta) a->dbeta[j] += dy;
        }
    }
    for (size_t j = 0; j < p->c && w.keeps_dgamma; j++) kept[j] = a->dgamma[j];
}

nl_impl mutant_kernel(nl_method method, wrong now) {
    nl_impl k = {.name = "mutant", .isa = "c", .method = method, .lanes = 1, .threaded = true};
    k.ops = NL_BIT(NL_OPS) - 1, k.passes = NL_BIT(NL_PASSES) - 1, k.dtypes = NL_BIT(NL_DTYPES) - 1,
    k.forward = forward, k.backward = backward;
    w = now, calls = 0;
    memset(kept, 0, sizeof kept);
    return k;
}
