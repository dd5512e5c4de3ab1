/* One short, serial and slow kernel for every pass of the layers without a gate. It is right unless
 * `wrong` has a mistake for the call. SPDX-License-Identifier: MIT */
#include "mutants.h"
#include "reference.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static wrong w;
static int calls;
static float kept[1 << 16]; /* dgamma of the previous call */

static float plus(float a, float b) {
    return w.half_sums ? nl_round(NL_F16, a + b) : a + b;
}

static float in_16_bits(const nl_problem *p, bool here, float v) {
    return here ? nl_round(p->dtype, v) : v;
}

/* Loads element i of a tensor, whose rows may have gaps. */
static float load(const nl_problem *p, nl_arg arg, const void *from, size_t i) {
    return nl_load(p->dtype, from, nl_place(nl_places_of(p, arg), i));
}

/* Stores a number. One mistake truncates it, another rounds ties away from zero. */
static void store(const nl_problem *p, nl_arg arg, void *to, size_t element, float v) {
    const size_t i = nl_place(nl_places_of(p, arg), element);
    const float nearest = nl_round(p->dtype, v), off = nearest - v;
    uint16_t *at = (uint16_t *)to + i;
    nl_store(p->dtype, to, i, v);
    if (p->dtype == NL_F32 || !isfinite(nearest) || nearest == 0) return;
    if (w.toward_zero && fabsf(nearest) > fabsf(v)) --*at;
    if (w.ties_away && fabsf(nearest) < fabsf(v)) {
        const uint16_t next = (uint16_t)(*at + 1);
        if (nl_load(p->dtype, &next, 0) - v == -off) *at = next;
    }
}

static float gain_of(const nl_problem *p, const float *gamma, size_t j) {
    bool plus_one = (p->op == NL_QWEN2_RMSNORM) != w.other_gain;
    const bool none = !gamma || (w.no_gamma && j >= w.feature);
    return none ? 1 : plus_one ? in_16_bits(p, w.half_gain, 1 + gamma[j]) : gamma[j];
}

static void touch(const nl_problem *p, const nl_forward_args *a) {
    const size_t n = p->n * p->c * p->s, bytes = nl_dtype_bytes(p->dtype);
    const ptrdiff_t at[] = {[PAST] = (ptrdiff_t)(n * bytes), [BEFORE] = -(ptrdiff_t)bytes};
    volatile float seen = w.read_gamma ? ((const float *)a->gamma)[p->c] : 0;
    if (w.read) seen += nl_load(p->dtype, (const char *)a->x + at[w.read], 0);
    if (w.write) nl_store(p->dtype, (char *)a->y + at[w.write], 0, 0);
    if (w.write_x) nl_store(p->dtype, (void *)a->x, n / 2, seen);
}

/* Do the group's sums miss element e? */
static bool is_lost(size_t e) {
    return (w.sums_end && e >= w.sums_end) || e + 1 == w.lost_element;
}

static float flush(float y) {
    return fabsf(y) < w.flushed ? 0 : y;
}

/* The mistakes that apply to a problem of this size and a call with these arguments. */
static wrong wrong_for(const nl_problem *p, const void *const at[NL_ARGS]) {
    bool here = nl_group_size(p) >= w.from && ref_groups(p) >= w.from_rows;
    unsigned given = 0, overwritten = 0;
    for (int i = 0; i < NL_ARGS; i++) {
        if (at[i]) given |= NL_BIT(i);
        for (int out = i + 1; at[i] && out < NL_ARGS; out++)
            if (at[out] == at[i]) overwritten |= NL_BIT(i);
    }
    here = here && (given & w.with) == w.with && !(given & w.without);
    here = here && (!w.overwritten || overwritten == w.overwritten);
    return here ? w : (wrong){0};
}

/* Does the kernel take v, element i, as 0 because v is NaN? */
static bool is_ignored(const nl_problem *p, size_t i, float v) {
    const size_t g = nl_layers[p->op].by_channel ? nl_feature_of(p, i) : i / p->c;
    return w.odd_numbers && g % 2 && isnan(v);
}

static float sum_at(const nl_problem *p, const nl_forward_args *a, size_t i) {
    float x = load(p, NL_X, a->x, i);
    if (is_ignored(p, i, x)) x = 0;
    if (!a->residual || w.no_residual) return x;
    x += load(p, NL_RESIDUAL, a->residual, i);
    return in_16_bits(p, w.rounded_sum, x);
}

/* Element e of group g. */
static size_t at(const nl_problem *p, size_t g, size_t e) {
    return w.run ? g * w.run + e : nl_element(p, g, e);
}

/* The value of element e in the group's sums. */
static float value_at(const nl_problem *p, const nl_forward_args *a, size_t g, size_t e) {
    const size_t i = at(p, g, e);
    bool alone = w.residual_end && e >= w.residual_end;
    return alone ? load(p, NL_X, a->x, i) : sum_at(p, a, i);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    size_t m = nl_group_size(p), groups = ref_groups(p);
    bool inference = p->pass == NL_INFERENCE, cast = p->casting == NL_CAST_BEFORE_WEIGHT;
    bool late = w.right_calls && ++calls > w.right_calls;
    float last = 1, stale_mean = 0, stale_rstd = 0;
    const wrong given = w;
    (void)threads;
    w = wrong_for(p, (const void *[NL_ARGS]){[NL_X] = a->x,
                                             [NL_RESIDUAL] = a->residual,
                                             [NL_GAMMA] = a->gamma,
                                             [NL_BETA] = a->beta,
                                             [NL_MEAN] = a->mean,
                                             [NL_RSTD] = a->rstd,
                                             [NL_RUNNING_MEAN] = a->running_mean,
                                             [NL_Y] = a->y,
                                             [NL_RESIDUAL_OUT] = a->residual_out});
    if (w.trusts_scratch && isnan(*(const float *)a->scratch)) w = (wrong){0};
    const float eps = w.eps ? w.eps : w.flushed_eps && p->eps < FLT_MIN ? 0 : p->eps;
    const size_t saved = groups;
    if (w.run) m = w.run, groups = p->n * p->c * p->s / m;
    for (size_t g = 0; g < groups; g++) {
        float mean = w.unset_scratch ? *(const float *)a->scratch : 0, var = 0;
        for (size_t e = 0; e < m && nl_layers[p->op].centred; e++)
            if (!is_lost(e)) mean = plus(mean, value_at(p, a, g, e));
        mean = inference ? a->running_mean[g] : mean / (float)m;
        for (size_t e = 0; e < m; e++) {
            float d = value_at(p, a, g, e) - (w.one_pass ? 0 : mean);
            if (!is_lost(e)) var = plus(var, d * d);
        }
        var = inference ? a->running_var[g] : var / (float)(w.unbiased ? m - 1 : m);
        if (w.one_pass) var -= mean * mean;
        var *= 1 + w.var_off;
        if (w.stale_from && g >= w.stale_from) mean = stale_mean;
        float rstd = w.eps_outside ? 1 / (sqrtf(var) + eps) : 1 / sqrtf(var + eps);
        mean = in_16_bits(p, w.half_mean, mean), rstd = in_16_bits(p, w.half_rstd, rstd);
        if (w.stale_from && g >= w.stale_from) rstd = stale_rstd;
        stale_mean = mean, stale_rstd = rstd;
        const float its_rstd = w.last_rstd ? last : rstd;
        for (size_t e = 0; e < m; e++) {
            size_t i = at(p, g, e), j = nl_feature_of(p, i);
            float x = sum_at(p, a, w.next_x ? at(p, g, (e + 1) % m) : i);
            float xhat = (x - mean) * its_rstd;
            if (cast != w.other_cast || w.half_xhat) xhat = nl_round(p->dtype, xhat);
            const float beta =
                a->beta && !(w.no_beta && j >= w.feature) ? ((const float *)a->beta)[j] : 0;
            float y = xhat * gain_of(p, a->gamma, w.next_gamma ? (j + 1) % p->c : j) + beta;
            if ((w.folded || (w.folded_from && g >= w.folded_from)) &&
                !cast) { /* allowed: many libraries do this */
                const float scale = gain_of(p, a->gamma, j) * rstd;
                y = x * scale + (beta - mean * scale);
            }
            if (w.noise || (w.last_feature_off && j == p->c - 1) || (w.first_row_off && g == 0))
                y += 1e-3f * (float)(i * 2654435761u % 997) / 997;
            if (w.unsteady) y *= 1 + 1e-3f * (float)(1 + getpid() % 1000); /* never right */
            x = sum_at(p, a, i);
            x = w.x_for_sum ? load(p, NL_X, a->x, i) : x;
            if (a->residual_out) store(p, NL_RESIDUAL_OUT, a->residual_out, i, x);
            const bool leave[] = {0,
                                  0,
                                  0,
                                  i == 7,
                                  e >= m / 16 * 16,
                                  g == groups - 1,
                                  e % 16 == 7,
                                  g * 3 / groups == 1};
            y = late || w.y == ZEROS ? 0 : w.y == NANS && i == 7 ? NAN : y;
            if (!leave[w.y]) store(p, NL_Y, a->y, i, flush(y));
        }
        last = rstd;
        for (size_t o = w.run ? 0 : g; o < (w.run ? saved : g + 1); o++) {
            if (w.run && nl_element(p, o, 0) / w.run != g) continue;
            const float shift = w.unshifted_mean     ? sum_at(p, a, nl_element(p, o, 0))
                                : w.saved_correction ? mean
                                                     : 0;
            if (a->mean) a->mean[o] = mean - shift + w.mean_off;
            if (a->rstd) a->rstd[o] = rstd * (1 + w.rstd_off);
            if (a->mean && w.swapped_stats) a->mean[o] = rstd, a->rstd[o] = mean;
            if (!a->running_mean || inference || w.old_running) continue;
            float more = p->biased_running_var != w.biased_running ? 1 : (float)m / (float)(m - 1);
            float fresh = w.momentum_swapped ? 1 - p->momentum : p->momentum;
            a->running_mean[o] = (1 - fresh) * a->running_mean[o] + fresh * mean;
            a->running_var[o] = (1 - fresh) * a->running_var[o] + fresh * var * more;
        }
    }
    touch(p, a);
    if (w.write_problem) ((nl_problem *)p)->eps = 0;
    w = given;
}

/* Does dgamma miss row g? */
static bool is_lost_row(size_t g, size_t share, size_t groups) {
    if (w.lost_rows && g % w.lost_rows == w.lost_rows - 1) return true;
    if (w.lost_blocks && g < groups / w.lost_blocks * w.lost_blocks) return true;
    return g >= share || (w.lost_run && g / 16 == 1);
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    size_t m = nl_group_size(p), groups = ref_groups(p);
    const wrong given = w;
    w = wrong_for(p, (const void *[NL_ARGS]){[NL_RESIDUAL] = a->dresidual,
                                             [NL_DY] = a->dy,
                                             [NL_GAMMA] = a->gamma,
                                             [NL_DX] = a->dx,
                                             [NL_DGAMMA] = a->dgamma,
                                             [NL_DBETA] = a->dbeta});
    size_t share = w.one_threads_dgamma ? (groups + (size_t)threads - 1) / (size_t)threads : groups;
    for (size_t j = 0; j < p->c; j++) {
        if (a->dgamma && !w.adds_dgamma && !(w.adds_numbers && !isnan(((float *)a->dgamma)[j])))
            ((float *)a->dgamma)[j] = w.keeps_dgamma ? kept[j] : 0;
        if (a->dbeta) ((float *)a->dbeta)[j] = 0;
    }
    for (size_t g = 0; g < groups; g++) {
        float mean = a->mean ? a->mean[g] : 0, rstd = a->rstd[g], mean_g = 0, mean_gx = 0;
        for (size_t e = 0; e < 2 * m; e++) { /* e < m: the sums; then dx */
            size_t i = nl_element(p, g, e % m), j = nl_feature_of(p, i);
            float dy = load(p, NL_DY, a->dy, i), gain = gain_of(p, a->gamma, j);
            if (is_ignored(p, i, dy)) dy = 0;
            float xhat = (load(p, NL_X, a->x, i) - mean) * rstd;
            xhat = in_16_bits(p, w.half_xhat, xhat);
            float in = w.gamma_outside ? dy : gain * dy, out = w.gamma_outside ? gain : 1;
            if (w.raw_sums) xhat = load(p, NL_X, a->x, i);
            if (e == m) {
                mean_g = in_16_bits(p, w.half_mean_g, mean_g);
                mean_gx = in_16_bits(p, w.half_mean_gx, mean_gx);
            }
            if (e >= m) {
                float means = mean_g * (float)(nl_layers[p->op].centred + w.more_means);
                float dx = rstd * out * (in - means - xhat * mean_gx);
                if (w.raw_sums) { /* here mean_gx is mean(g * x), and xhat is x */
                    const float b = (mean_g * mean - mean_gx) * rstd * rstd * rstd;
                    dx = rstd * in + b * xhat + (-b * mean - mean_g * rstd);
                }
                if (a->dresidual && !w.no_dresidual) dx += load(p, NL_RESIDUAL, a->dresidual, i);
                store(p, NL_DX, a->dx, i, flush(dx));
                continue;
            }
            if ((!w.lost_lane || e % 16 != 7) && !is_lost(e))
                mean_g += in / (float)m, mean_gx += in * xhat / (float)m;
            float to_dgamma = dy;
            if (w.raw_sums)
                to_dgamma *= xhat * rstd - mean * rstd;
            else
                to_dgamma *= w.x_in_dgamma ? load(p, NL_X, a->x, i) : xhat;
            if (a->dgamma && !is_lost_row(g, share, groups)) ((float *)a->dgamma)[j] += to_dgamma;
            const bool no_dbeta = w.no_dbeta || (w.lost_dbeta && is_lost_row(g, share, groups));
            if (a->dbeta && !no_dbeta) ((float *)a->dbeta)[j] += dy;
        }
    }
    for (size_t j = 0; j < p->c && a->dgamma && w.keeps_dgamma; j++)
        kept[j] = ((float *)a->dgamma)[j];
    w = given;
}

static size_t scratch_bytes(const nl_problem *p) {
    (void)p;
    return 64;
}

nl_impl mutant_kernel(nl_method method, wrong now) {
    nl_impl k = {.name = "mutant", .isa = "c", .method = method, .lanes = 1, .threaded = true};
    k.ops = NL_BIT(NL_OPS) - 1, k.passes = NL_BIT(NL_PASSES) - 1, k.dtypes = NL_BIT(NL_DTYPES) - 1,
    k.forward = forward, k.backward = backward;
    if (now.unset_scratch || now.trusts_scratch) k.scratch = scratch_bytes;
    w = now, calls = 0;
    memset(kept, 0, sizeof kept);
    return k;
}
