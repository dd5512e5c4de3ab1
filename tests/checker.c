/* The checker on trial: small wrong kernels that it must reject, each on a case where the right one
 * passes; NaN, which never passes; and what is said where a method promises nothing.
 * SPDX-License-Identifier: MIT */
#include "bound.h"
#include "support.h"

#include <stdio.h>

TestSuite(checker, .init = one_thread);

enum { NANS = 1, ZEROS, LEAVE_ONE, LEAVE_TAIL, LEAVE_ROW, PAST = 1, BEFORE };

/* What the kernel below, right for every layer, does wrong now. */
typedef struct wrong {
    int y, read, write, more_means; /* more_means: mean(g) terms too many in dx */
    bool eps_outside, unbiased, biased_running, momentum_swapped, old_running, next_gamma,
        last_rstd, half_sums, read_gamma, write_x, no_residual, x_for_sum, rounded_sum, other_cast,
        other_gain, gamma_outside, adds_dgamma, keeps_dgamma, half_dgamma;
    float mean_off, rstd_off;
} wrong;
static wrong w;

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
    float last = 1;
    (void)threads;
    for (size_t g = 0; g < groups; g++) {
        float mean = 0, var = 0;
        for (size_t e = 0; e < m && is_centred(p); e++)
            mean = plus(mean, sum_at(p, a, element(p, g, e)));
        mean = inference ? a->running_mean[g] : mean / (float)m;
        for (size_t e = 0; e < m; e++) {
            float d = sum_at(p, a, element(p, g, e)) - mean;
            var = plus(var, d * d);
        }
        var = inference ? a->running_var[g] : var / (float)(w.unbiased ? m - 1 : m);
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
            y = w.y == ZEROS ? 0 : w.y == NANS && i == 7 ? NAN : y;
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
    static float kept[MOST_GROUP];
    size_t m = group_size(p);
    (void)threads;
    for (size_t j = 0; j < p->c; j++) {
        if (!w.adds_dgamma) a->dgamma[j] = w.keeps_dgamma ? kept[j] : 0;
        if (a->dbeta) a->dbeta[j] = 0;
    }
    for (size_t g = 0; g < ref_groups(p); g++) {
        float mean = a->mean ? a->mean[g] : 0, rstd = a->rstd[g], mean_g = 0, mean_gx = 0;
        for (size_t e = 0; e < 2 * m; e++) { /* the first time the sums, the second dx */
            size_t i = element(p, g, e % m), j = feature(p, i);
            float dy = nl_load(p->dtype, a->dy, i), gain = gain_of(p, a->gamma, j);
            float xhat = (nl_load(p->dtype, a->x, i) - mean) * rstd;
            float in = w.gamma_outside ? dy : gain * dy, out = w.gamma_outside ? gain : 1;
            if (e >= m) {
                float means = mean_g * (float)(is_centred(p) + w.more_means);
                nl_store(p->dtype, a->dx, i, rstd * out * (in - means - xhat * mean_gx));
                continue;
            }
            mean_g += in / (float)m, mean_gx += in * xhat / (float)m;
            if (!w.half_dgamma || g < ref_groups(p) / 2) a->dgamma[j] += dy * xhat;
            if (a->dbeta) a->dbeta[j] += dy;
        }
    }
    for (size_t j = 0; j < p->c && w.keeps_dgamma; j++) kept[j] = a->dgamma[j];
}

static nl_impl kernel(nl_method method) {
    nl_impl k = {.name = "kernel", .isa = "c", .method = method, .lanes = 1};
    k.ops = 15, k.passes = k.dtypes = 7, k.forward = forward, k.backward = backward;
    return k;
}

static const struct mutant {
    const char *name, *text;
    wrong w;
} mutants[] = {
    {"writes NaN", "layernorm/forward/f32/5x37/normal", {.y = NANS}},
    {"writes zeros", "rmsnorm/forward/f16/5x37/normal", {.y = ZEROS}},
    {"leaves one element", "batchnorm/forward/bf16/5x37/normal", {.y = LEAVE_ONE}},
    {"skips the tail", "rmsnorm/forward/f32/5x37/normal", {.y = LEAVE_TAIL}},
    {"skips the last row", "layernorm/forward/f32/5x37/exact", {.y = LEAVE_ROW}},
    {"reads one past x", "layernorm/forward/bf16/3x5/normal", {.read = PAST}},
    {"reads one before x", "layernorm/forward/f32/3x5/normal", {.read = BEFORE}},
    {"reads one past gamma", "rmsnorm/forward/f32/3x5/normal", {.read_gamma = true}},
    {"writes one past y", "rmsnorm/forward/f16/3x5/normal", {.write = PAST}},
    {"writes one before y", "batchnorm/inference/f32/3x5/normal", {.write = BEFORE}},
    {"modifies its input", "layernorm/forward/f32/3x5/normal", {.write_x = true}},
    {"eps outside the root", "layernorm/forward/f32/9x64/normal/eps=1e-2", {.eps_outside = true}},
    {"unbiased variance", "layernorm/forward/f32/9x64/normal", {.unbiased = true}},
    {"unbiased variance", "batchnorm/forward/f16/64x9/normal", {.unbiased = true}},
    {"biased running_var", "batchnorm/forward/f32/64x9/normal", {.biased_running = true}},
    {"unbiased one",
     "batchnorm/forward/f32/9x9/normal/biased-running-var",
     {.biased_running = true}},
    {"momentum swapped", "batchnorm/forward/f32/64x9/normal", {.momentum_swapped = true}},
    {"stale running statistics", "batchnorm/forward/f32/64x9/normal", {.old_running = true}},
    {"the next gamma", "layernorm/forward/bf16/5x37/normal", {.next_gamma = true}},
    {"the last row's rstd", "rmsnorm/forward/f16/5x37/normal", {.last_rstd = true}},
    {"mean off by 1e-3", "layernorm/forward/f32/9x64/normal", {.mean_off = 1e-3f}},
    {"rstd off by 1e-3", "rmsnorm/forward/bf16/9x64/normal", {.rstd_off = 1e-3f}},
    {"f16 sums", "rmsnorm/forward/f16/9x1000/normal", {.half_sums = true}},
    {"ignores the residual", "layernorm/forward/f32/5x37/normal/residual", {.no_residual = true}},
    {"residual_out is x", "layernorm/forward/f16/5x37/normal/residual", {.x_for_sum = true}},
    {"xhat of the rounded sum", "rmsnorm/forward/f16/64x64/normal/residual", {.rounded_sum = true}},
    {"w for 1 + w", "gemma/forward/f32/5x37/normal", {.other_gain = true}},
    {"1 + w for w", "rmsnorm/forward/f32/5x37/normal", {.other_gain = true}},
    {"cast before weight", "rmsnorm/forward/f16/64x64/normal", {.other_cast = true}},
    {"cast before weight", "rmsnorm/forward/bf16/64x64/normal", {.other_cast = true}},
    {"cast last", "rmsnorm/forward/f16/64x64/normal/cast-before-weight", {.other_cast = true}},
    {"cast last", "rmsnorm/forward/bf16/64x64/normal/cast-before-weight", {.other_cast = true}},
    {"mean(g) in RMSNorm's dx", "rmsnorm/backward/f32/9x64/normal", {.more_means = 1}},
    {"no mean(g) in dx", "layernorm/backward/f32/9x64/normal", {.more_means = -1}},
    {"mean(g) twice in dx", "batchnorm/backward/f32/9x8x7/normal", {.more_means = 1}},
    {"gamma outside the bracket", "rmsnorm/backward/f32/9x64/normal", {.gamma_outside = true}},
    {"gamma outside the bracket", "layernorm/backward/f16/9x64/normal", {.gamma_outside = true}},
    {"adds to dgamma", "layernorm/backward/f32/9x64/normal", {.adds_dgamma = true}},
    {"dgamma not reset", "rmsnorm/backward/f32/9x64/normal", {.keeps_dgamma = true}},
    {"dgamma of half the rows", "layernorm/backward/f32/9x64/normal", {.half_dgamma = true}},
};

static verdict check(const trial *t, wrong now) {
    w = now;
    nl_impl k = kernel(NL_TWO_PASS);
    verdict v = verify(&t->c, &t->data, &t->want, &k, PLACE_END, 1);
    if (v.outcome != OUTCOME_FAIL) v = verify(&t->c, &t->data, &t->want, &k, PLACE_START, 1);
    w = (wrong){0};
    return v;
}

Test(checker, rejects_every_mutant) {
    size_t count = sizeof mutants / sizeof *mutants, killed = 0;
    for (const struct mutant *m = mutants; m < mutants + count; m++) {
        trial t;
        trial_make(&t, m->text);
        verdict right = check(&t, (wrong){0}), v = check(&t, m->w);
        if (right.outcome != OUTCOME_OK) cr_assert_fail("%s, right: %s", m->text, right.why);
        killed += v.outcome == OUTCOME_FAIL;
        const char *fate = v.outcome == OUTCOME_FAIL ? "killed" : "SURVIVED";
        fprintf(stderr, "%-8s %-26s %s\n", fate, m->name, v.why);
        trial_end(&t);
    }
    cr_assert(killed == count, "%zu of %zu mutants survived", count - killed, count);
}

/* One NaN where a number is due, in whatever result and element, is never ok; nor is it, with an n
 * of 0, to write anything at all. */
Test(checker, every_element_counts) {
    case_list list = {0};
    const char *all = "{{layernorm,rmsnorm,gemma}/{forward,backward},"
                      "batchnorm/{forward,backward,inference}}/{f32,f16,bf16}/{0,3}x5/"
                      "{normal,exact,zeros,constant,offset:16,huge,tiny,nan,inf}";
    nl_impl two_pass = kernel(NL_TWO_PASS);
    cr_assert(cases_add(&list, all, (char[700]){0}, 700), "%s", all);
    for (size_t i = 0; i < list.count; i++) {
        trial t;
        trial_make(&t, list.items[i].text), trial_place(&t, &two_pass), trial_call(&t, 1);
        bool empty = t.c.problem.n == 0;
        outcome clean = compare(&t.in, &t.want).outcome;
        if (clean == OUTCOME_FAIL) cr_assert_fail("%s: the right kernel fails", t.c.text);
        for (slot s = 0; s < SLOTS; s++) {
            nl_dtype d = is_tensor(s) ? t.c.problem.dtype : NL_F32;
            for (size_t k = 0; k < t.data.bytes[s] / nl_dtype_bytes(d); k++) {
                float was = nl_load(d, t.in.at[s], k);
                if (!empty && (!is_result(&t, s) || !isfinite(was))) continue;
                nl_store(d, t.in.at[s], k, empty ? 0.125f : NAN);
                outcome got = compare(&t.in, &t.want).outcome;
                if (got != OUTCOME_FAIL && !(got == OUTCOME_DEMO && clean == OUTCOME_DEMO))
                    cr_assert_fail("%s: %s[%zu]: %s", t.c.text, slot_name(s), k, outcome_name(got));
                nl_store(d, t.in.at[s], k, was);
                if (empty) instance_fill(&t.in); /* stored again, a NaN may be another */
            }
        }
        trial_end(&t);
    }
    cases_free(&list);
}

/* E[x^2] - E[x]^2 promises nothing of a row whose mean is 10000 sigma: that row is shown and not
 * judged, whatever it holds; its neighbours are judged. Two-pass promises something. */
Test(checker, promises) {
    static const float values[] = {NAN, 0, 1e30f};
    nl_impl fragile = kernel(NL_ONE_PASS), firm = kernel(NL_TWO_PASS);
    trial t;
    trial_make(&t, "layernorm/forward/f32/3x64/normal");
    answer_free(&t.want);
    for (size_t e = 0; e < 64; e++) ((float *)t.data.input[X])[64 + e] += 1e4f;
    cr_assert(answer_make(&t.c, &t.data, &t.want) && trial_place(&t, &fragile));
    for (size_t i = 0; i < 3 * 64; i++) {
        outcome got[3], due = i / 64 == 1 ? OUTCOME_DEMO : OUTCOME_FAIL;
        for (int k = 0; k < 3; k++) { /* right, wrong in y[i], wrong where all is promised */
            t.in.impl = k < 2 ? &fragile : &firm;
            instance_fill(&t.in), trial_call(&t, 1);
            if (k) ((float *)t.in.at[Y])[i] = values[i % 3];
            got[k] = compare(&t.in, &t.want).outcome;
        }
        if (got[0] != OUTCOME_DEMO || got[1] != due || got[2] != OUTCOME_FAIL)
            cr_assert_fail("y[%zu]: %d %d %d", i, got[0], got[1], got[2]);
    }
    trial_end(&t);
}
