/* Quantities that are counted or computed, not timed, and the table of all. SPDX-License-Identifier: MIT */
#include "claims/claims.h"
#include "claims/rsqrt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool exactly(double v, figure *out) {
    *out = (figure){{v, v, v}, {v, v, v}, 0, 0};
    return true;
}

/* LayerNorm's stage and RMSNorm's for the tail. */
static bool get_two(stages *all, const char *tail, stage *two[2], char *why, size_t why_size) {
    static const char *const layers[] = {"layernorm", "rmsnorm"};
    for (int i = 0; i < 2; i++) {
        char text[CASE_TEXT];
        snprintf(text, sizeof text, "%s/%s", layers[i], tail);
        if (!(two[i] = stage_get(all, text, why, why_size))) return false;
    }
    return true;
}

#define GET(name)                                                                                 \
    static bool name(stages *all, const char *how, const char *tail, double seconds, figure *out, \
                     char *why, size_t why_size)
#define TWO                   \
    stage *two[2];            \
    (void)how, (void)seconds; \
    if (!get_two(all, tail, two, why, why_size)) return false

GET(state_bytes) {
    TWO;
    size_t saved = case_state_bytes(&two[0]->c) - case_state_bytes(&two[1]->c);
    return exactly((double)saved / (double)two[0]->c.problem.n, out);
}

/* Of what forward has to keep for backward: x and the statistics. */
GET(state_share) {
    TWO;
    double x = (double)two[0]->data.bytes[NL_X], layer = (double)case_state_bytes(&two[0]->c);
    return exactly(100 * (layer - (double)case_state_bytes(&two[1]->c)) / (x + layer), out);
}

/* Vectors of c that are learned. */
GET(parameters) {
    TWO;
    double vectors[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        for (nl_arg s = NL_GAMMA; s <= NL_BETA; s++) vectors[i] += two[i]->data.input[s] != NULL;
    return exactly(vectors[0] - vectors[1], out);
}

GET(traffic) {
    const mode *m = mode_find(how);
    TWO;
    if (!m) return snprintf(why, why_size, "there is no mode '%s'", how), false;
    double bytes[2];
    for (int i = 0; i < 2; i++)
        bytes[i] = m->transfers[i] ? (double)m->transfers[i] : (double)case_bytes(&two[i]->c);
    return exactly(100 * (1 - bytes[1] / bytes[0]), out);
}

/* The fewest readings of x that give right statistics: one, if an implementation that makes one is
 * promised to be right and is. */
static double readings(stage *s) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *k = nl_impl_at(i);
        bool one = k->method == NL_ONE_PASS || k->method == NL_SHIFTED || k->method == NL_WELFORD ||
                   !nl_layers[s->c.problem.op].centred;
        if (one && !k->demonstration && nl_isa_runs(k->isa) && nl_accepts(k, &s->c.problem) &&
            stage_judge(s, k, 1).outcome == OUTCOME_OK)
            return 1;
    }
    return 2;
}

GET(scans) {
    TWO;
    return exactly(readings(two[0]) / readings(two[1]), out);
}

/* LayerNorm's largest error over RMSNorm's. */
GET(error_ratio) {
    const mode *m = mode_find(how);
    double error[2];
    TWO;
    for (int i = 0; i < 2; i++) {
        const nl_impl *k = m ? mode_impl(m, i, &two[i]->c.problem) : NULL;
        if (!k) return snprintf(why, why_size, "nothing here runs the mode '%s'", how), false;
        verdict v = stage_judge(two[i], k, mode_threads(m));
        if (v.outcome == OUTCOME_FAIL) return snprintf(why, why_size, "%s", v.why), false;
        error[i] = v.error_u;
    }
    return exactly(error[0] / error[1], out);
}

/* The largest |rms^2 / (sigma^2 + mean^2) - 1| of the rows, from the statistics that the layers save. */
GET(identity) {
    const mode *m = mode_find(how);
    double worst = 0;
    TWO;
    for (int i = 0; i < 2; i++) {
        const nl_impl *k = m ? mode_impl(m, i, &two[i]->c.problem) : NULL;
        if (!k) return snprintf(why, why_size, "nothing here runs the mode '%s'", how), false;
        verdict v = stage_judge(two[i], k, 1);
        if (v.outcome != OUTCOME_OK)
            return snprintf(why, why_size, "%s promises nothing on %s", k->name, tail), false;
    }
    const float *mean = two[0]->in.at[NL_MEAN], *rstd = two[0]->in.at[NL_RSTD],
                *root = two[1]->in.at[NL_RSTD];
    for (size_t r = 0; r < two[0]->c.problem.n; r++) {
        double sigma = 1 / (double)rstd[r], rms = 1 / (double)root[r];
        worst = fmax(worst, fabs(rms * rms / (sigma * sigma + (double)mean[r] * mean[r]) - 1));
    }
    return exactly(worst, out);
}

/* Elements in which Qwen2RMSNorm with w = 0 is not, to the bit, RMSNorm without a gain. */
GET(qwen_start) {
    const mode *m = mode_find(how);
    TWO;
    stage *s = two[1];
    nl_problem p = s->c.problem;
    const nl_impl *k = m ? mode_impl(m, 1, &p) : NULL;
    size_t bytes = s->data.bytes[NL_X], each = nl_dtype_bytes(p.dtype), differ = 0;
    float *w = calloc(p.c, sizeof *w);
    char *y = malloc(bytes);
    nl_forward_args a = {.x = s->in.at[NL_X], .y = s->in.at[NL_Y]},
                    q = {.x = a.x, .y = y, .gamma = w};
    bool ok = k && w && y;
    if (ok) ok = stage_judge(s, k, 1).outcome == OUTCOME_OK && nl_forward(k, &p, &a, 1) == NL_OK;
    p.op = NL_QWEN2_RMSNORM;
    ok = ok && nl_accepts(k, &p) && nl_forward(k, &p, &q, 1) == NL_OK;
    for (size_t i = 0; ok && i < bytes; i += each)
        differ += memcmp(y + i, (char *)s->in.at[NL_Y] + i, each) != 0;
    free(w);
    free(y);
    if (!ok) snprintf(why, why_size, "nothing here runs %s in the mode '%s'", tail, how);
    return ok && exactly((double)differ, out);
}

/* A transformer block of width c over n tokens: two norms of 8 operations an element, in per cent of
 * its matrix products, 24 n c^2 + 4 n^2 c. */
GET(flops_share) {
    TWO;
    double n = (double)two[0]->c.problem.n, c = (double)two[0]->c.problem.c;
    return exactly(100 * 16 * n * c / (24 * n * c * c + 4 * n * n * c), out);
}

GET(root_speedup) {
    estimate ratio;
    double band;
    size_t rounds;
    (void)all, (void)tail;
    if (!roots_race(how, seconds, &ratio, &band, &rounds, why, why_size)) return false;
    *out = claim_figure(quantity_find("speedup"), 1, ratio, band);
    out->rounds = rounds;
    return true;
}

GET(root_error) {
    double error = roots_error(how);
    (void)all, (void)tail, (void)seconds;
    if (isnan(error)) snprintf(why, why_size, "this build has no '%s' root", how);
    return !isnan(error) && exactly(error, out);
}

const quantity quantities[] = {
    {"saving", "%", "time saved by RMSNorm over LayerNorm, 1 - t_RMS / t_LN; with share, of a step",
     0, .timed = true},
    {"speedup", "x", "LayerNorm's time over RMSNorm's", 1, .timed = true},
    {"traffic", "%", "bytes that RMSNorm need not move, or transfers that it does not make", 0,
     .get = traffic},
    {"scans", "x", "LayerNorm's readings of x for right statistics over RMSNorm's", NAN,
     .get = scans},
    {"error_ratio", "x", "LayerNorm's largest error over RMSNorm's", 1, .get = error_ratio},
    {"identity", "", "largest relative difference of RMS^2 and sigma^2 + mean^2", NAN,
     .get = identity},
    {"state_bytes", "bytes", "that RMSNorm keeps less for backward, a row", NAN,
     .get = state_bytes},
    {"state_share", "%", "the same, of all that is kept for backward", 0, .get = state_share},
    {"parameters", "vectors", "of c learned numbers that RMSNorm has less", NAN, .get = parameters},
    {"qwen_start", "elements", "of y that differ between Qwen2RMSNorm with w = 0 and no gain", NAN,
     .get = qwen_start},
    {"flops_share", "%", "two norms' operations, of a transformer block's", NAN,
     .get = flops_share},
    {"root_speedup", "x", "time of 1 / sqrt over that of HOW: instruction, newton", 1,
     .get = root_speedup},
    {"root_error", "u",
     "largest relative error, in units of 2^-24, of HOW: instruction, newton, true", NAN,
     .get = root_error},
};
const size_t quantities_count = sizeof quantities / sizeof *quantities;

const quantity *quantity_find(const char *name) {
    for (size_t i = 0; i < quantities_count; i++)
        if (strcmp(quantities[i].name, name) == 0) return &quantities[i];
    return NULL;
}
