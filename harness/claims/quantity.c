/* SPDX-License-Identifier: MIT */
#include "claims/quantity.h"
#include "claims/rivals.h"
#include "timing/race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool exactly(double v, figure *out) {
    *out = (figure){{v, v, v}, {v, v, v}, 0, 0};
    return true;
}

static bool fail(const question *q, const char *format, const char *what) {
    snprintf(q->by->why, sizeof q->by->why, format, what);
    return false;
}

/* The implementation of one side of the mode; NULL: there is none. */
static const nl_impl *impl_of(const question *q, int side) {
    const mode *m = mode_find(q->how);
    const nl_impl *k = m ? mode_impl(m, side, &q->two[side]->c.problem) : NULL;
    if (!k) fail(q, "no implementation here runs the mode '%s'", q->how);
    return k;
}

static bool state_bytes(const question *q, figure *out) {
    size_t saved = case_state_bytes(&q->two[0]->c) - case_state_bytes(&q->two[1]->c);
    return exactly((double)saved / (double)q->two[0]->c.problem.n, out);
}

/* The part of LayerNorm's state that RMSNorm does not need, as a share of all that LayerNorm's
 * forward keeps for backward, which is x and the statistics. */
static bool state_share(const question *q, figure *out) {
    double x = (double)q->two[0]->data.bytes[NL_X], layer = (double)case_state_bytes(&q->two[0]->c);
    return exactly(100 * (layer - (double)case_state_bytes(&q->two[1]->c)) / (x + layer), out);
}

static bool parameters(const question *q, figure *out) {
    double vectors[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        for (nl_arg s = NL_GAMMA; s <= NL_BETA; s++) vectors[i] += q->two[i]->data.input[s] != NULL;
    return exactly(vectors[0] - vectors[1], out);
}

static bool traffic(const question *q, figure *out) {
    const mode *m = mode_find(q->how);
    if (!m) return fail(q, "no mode is called '%s'", q->how);
    const nl_case *c = &q->two[0]->c;
    if (!m->transfers[0])
        return exactly(100 * (1 - (double)case_bytes(&q->two[1]->c) / (double)case_bytes(c)), out);
    if (c->problem.pass != NL_FORWARD || c->problem.dtype != NL_F32 || c->residual)
        return fail(q, "the transfers of '%s' are known only for forward in f32 without a residual",
                    q->how);
    return exactly(100 * (1 - (double)m->transfers[1] / m->transfers[0]), out);
}

/* How often must x be read for right statistics? Once, if an implementation that reads x once is
 * right within a bound. */
static double reads_needed(fixture *s) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *k = nl_impl_at(i);
        bool one = k->method == NL_ONE_PASS || k->method == NL_SHIFTED || k->method == NL_WELFORD ||
                   !nl_layers[s->c.problem.op].centred;
        if (one && !k->demonstration && nl_isa_runs(k->isa) && nl_accepts(k, &s->c.problem) &&
            fixture_verify(s, k, 1).outcome == OUTCOME_OK)
            return 1;
    }
    return 2;
}

static bool scans(const question *q, figure *out) {
    return exactly(reads_needed(q->two[0]) / reads_needed(q->two[1]), out);
}

/* LayerNorm's largest error over RMSNorm's; 1 if both are 0 or both infinite. */
static bool error_ratio(const question *q, figure *out) {
    double error[2];
    for (int i = 0; i < 2; i++) {
        const nl_impl *k = impl_of(q, i);
        if (!k) return false;
        verdict v = fixture_verify(q->two[i], k, mode_threads(mode_find(q->how)));
        if (v.outcome == OUTCOME_FAIL) return fail(q, "%s", v.why);
        error[i] = v.error_u;
    }
    return exactly(error[0] == error[1] ? 1 : error[0] / error[1], out);
}

/* The largest |rms^2 / (sigma^2 + mean^2) - 1| of a row, from the saved statistics. */
static bool identity(const question *q, figure *out) {
    double worst = 0;
    for (int i = 0; i < 2; i++) {
        const nl_impl *k = impl_of(q, i);
        if (!k) return false;
        verdict v = fixture_verify(q->two[i], k, 1);
        if (v.outcome != OUTCOME_OK) return fail(q, "%s has no bound on this case", k->name);
    }
    const float *mean = q->two[0]->in->at[NL_MEAN], *rstd = q->two[0]->in->at[NL_RSTD],
                *root = q->two[1]->in->at[NL_RSTD];
    for (size_t r = 0; r < q->two[0]->c.problem.n; r++) {
        double sigma = 1 / (double)rstd[r], rms = 1 / (double)root[r];
        double off = fabs(rms * rms / (sigma * sigma + (double)mean[r] * mean[r]) - 1);
        worst = off > worst || isnan(off) ? off : worst;
    }
    return exactly(worst, out);
}

/* Counts elements of Qwen2RMSNorm with w = 0 that differ in a bit from RMSNorm without gain. */
static bool qwen_start(const question *q, figure *out) {
    fixture *s = q->two[1];
    nl_problem p = s->c.problem;
    const nl_impl *k = impl_of(q, 1);
    size_t bytes = s->data.bytes[NL_X], each = nl_dtype_bytes(p.dtype), differ = 0;
    float *w = calloc(p.c, sizeof *w);
    char *y = malloc(bytes);
    nl_forward_args a = {.x = s->in->at[NL_X], .y = s->in->at[NL_Y]},
                    b = {.x = a.x, .y = y, .gamma = w};
    bool ok = k && w && y;
    if (ok) ok = fixture_verify(s, k, 1).outcome == OUTCOME_OK && nl_forward(k, &p, &a, 1) == NL_OK;
    p.op = NL_QWEN2_RMSNORM;
    ok = ok && nl_accepts(k, &p) && nl_forward(k, &p, &b, 1) == NL_OK;
    for (size_t i = 0; ok && i < bytes; i += each)
        differ += memcmp(y + i, (char *)s->in->at[NL_Y] + i, each) != 0;
    free(w);
    free(y);
    return ok ? exactly((double)differ, out)
              : fail(q, "no implementation here runs both layers in the mode '%s'", q->how);
}

/* The operations of two norms, in per cent of the operations of a block's matrix products. For
 * width c and n tokens, a norm has 8 operations per element; products have 24 n c^2 + 4 n^2 c. */
static bool flops_share(const question *q, figure *out) {
    double n = (double)q->two[0]->c.problem.n, c = (double)q->two[0]->c.problem.c;
    return exactly(100 * 16 * n * c / (24 * n * c * c + 4 * n * n * c), out);
}

static bool ones(const question *q, figure *out) {
    const bool sign = strcmp(q->how, "average") == 0;
    if (!sign && strcmp(q->how, "size") != 0)
        return fail(q, "'%s' should be average or size", q->how);
    return exactly(folds_ones(q->two[0], sign), out);
}

/* HOW is tN. With N-fold tensor parallelism, a layer of width h keeps (10 + 24 / N) h bytes per
 * token for backward, besides the attention matrix; 4 h of them are the inputs of its two norms. */
static bool norm_inputs(const question *q, figure *out) {
    char *end = NULL;
    const double n = q->how[0] == 't' ? strtod(q->how + 1, &end) : 0;
    if (!(n >= 1) || *end || !isfinite(n)) return fail(q, "'%s' should be t1, t2, ...", q->how);
    return exactly(100 * 4 / (10 + 24 / n), out);
}

/* HOW is layer, four or mixer. Counts the numbers that a backward pass of Qwen3-Next-80B-A3B needs
 * for each token, each number once. Two norms have inputs and outputs, c numbers each. The mixer
 * has queries and keys (c each) and values (v), before and after the convolution; normalized
 * queries and keys; and the gated norm's gate, input and output. Ten experts and a shared expert
 * have inputs and results. One layer of four has attention, with gate, and 512 keys and values. */
static bool gated_outputs(const question *q, figure *out) {
    const double c = 2048, v = 4096, mixer = 2 * c + 2 * (2 * c + v) + 2 * c + 3 * v,
                 experts = 12 * c + 11 * 3 * 512, attention = 2 * c + 5 * v + 3 * 512;
    if (strcmp(q->how, "mixer") == 0) return exactly(100 * v / mixer, out);
    if (strcmp(q->how, "layer") == 0) return exactly(100 * v / (mixer + experts), out);
    if (strcmp(q->how, "four") == 0)
        return exactly(300 * v / (3 * mixer + attention + 4 * experts), out);
    return fail(q, "'%s' should be layer, four or mixer", q->how);
}

static bool race_of_rivals(const question *q, race_result *out) {
    return rivals_race(q->by, q->how, q->tail, out);
}

static bool race_of_layers(const question *q, race_result *out) {
    return race_mode(q->by, mode_find(q->how), q->tail, out);
}

static bool race_of_roots(const question *q, race_result *out) {
    return rsqrt_race(q->by, q->how, out);
}

static bool root_error(const question *q, figure *out) {
    double error = rsqrt_error(q->how);
    if (isnan(error)) return fail(q, "this build has no '%s'", q->how);
    return exactly(error, out);
}

const quantity quantities[] = {
    {"saving", "%", "time that RMSNorm saves, 1 - t_RMS / t_LN; with `share`, as a part of a step",
     0, "RMSNorm saves ", " %", "RMSNorm takes ", " % longer", " times as long",
     .of = figure_saving, .race = race_of_layers},
    {"speedup", "x", "LayerNorm's time over RMSNorm's", 1, "RMSNorm is ", " times as fast",
     "RMSNorm takes ", " % longer", " times as long", .of = figure_speedup, .race = race_of_layers},
    {"traffic", "%", "bytes, or transfers of whole tensors, that RMSNorm saves", 0,
     "RMSNorm saves ", " % of the bytes", "RMSNorm moves ", " % more bytes", " times the bytes",
     .get = traffic},
    {"scans", "x", "passes over x for correct statistics: LayerNorm's divided by RMSNorm's", NAN,
     "scans of x, LayerNorm's over RMSNorm's: ", "", .get = scans, .pass = "forward"},
    {"error_ratio", "x", "LayerNorm's largest error over RMSNorm's", 1,
     "LayerNorm's largest error is ", " times RMSNorm's", .get = error_ratio},
    {"identity", "", "largest relative difference of RMS^2 and sigma^2 + mean^2", NAN,
     "RMS^2 and sigma^2 + mean^2 differ by at most ", "", .get = identity, .pass = "forward"},
    {"state_bytes", "bytes", "state for backward that RMSNorm saves, per row", NAN,
     "RMSNorm keeps ", " bytes less per row", .get = state_bytes},
    {"state_share", "%", "share of the state for backward that RMSNorm saves", 0, "RMSNorm saves ",
     " % of the state", .get = state_share},
    {"parameters", "vectors", "learned vectors of c numbers that RMSNorm saves", NAN,
     "learned vectors saved: ", "", .get = parameters},
    {"qwen_start", "elements",
     "elements of y that differ between Qwen2RMSNorm with w = 0 and RMSNorm without gain", NAN,
     "elements that differ: ", "", .get = qwen_start},
    {"flops_share", "%", "operations of two norms over operations of a transformer block", NAN,
     "norms are ", " % of the operations", .get = flops_share},
    {"rival_saving", "%", "time that SECOND saves over FIRST; HOW: FIRST>SECOND, two rivals", 0,
     "it saves ", " %", "it takes ", " % longer", " times as long", .of = figure_saving,
     .race = race_of_rivals},
    {"rival_speedup", "x", "FIRST's time over SECOND's time; HOW: FIRST>SECOND, two rivals", 1,
     "it is ", " times as fast", "it takes ", " % longer", " times as long", .of = figure_speedup,
     .race = race_of_rivals},
    {"gain_folded", "x",
     "rms error of a product with the gain folded into its weights, over the unfolded error", 1,
     "the error is ", " times as large", .compute = folds_gain, .side = 1, .pass = "forward"},
    {"centring_folded", "x",
     "rms error of RMSNorm on rows that are centred before storing, over LayerNorm's", 1,
     "the error is ", " times as large", .compute = folds_centring, .pass = "forward"},
    {"ones", "%", "a row's mean over its rms, averaged; HOW: average (signed) or size (unsigned)",
     0, "the mean is ", " % of the rms", .get = ones, .pass = "forward"},
    {"from_y", "x", "rms error of dx: backward from y, over backward from x", 1, "the error is ",
     " times as large", .compute = folds_from_y, .pass = "backward"},
    {"norm_inputs", "%",
     "the norms' inputs as a share of the activations; HOW: tN, N processors "
     "share a layer",
     0, "the norms' inputs are ", " % of the activations", .alone = true, .get = norm_inputs},
    {"gated_outputs", "%",
     "a gated norm's outputs as a share of the activations; HOW: layer, four (one of them with "
     "attention) or mixer (without experts)",
     0, "the norm's outputs are ", " % of the activations", .alone = true, .get = gated_outputs},
    {"root_speedup", "x", "time of 1 / sqrt over the time of HOW (instruction, newton)", 1,
     "it is ", " times as fast", .of = figure_speedup, .race = race_of_roots},
    {"root_error", "u",
     "largest relative error of HOW (instruction, newton, true), in units of 2^-24", NAN,
     "it is off by ", " units", .alone = true, .get = root_error},
};
const size_t quantities_count = sizeof quantities / sizeof *quantities;

static bool get_two(question *q) {
    static const char *const layers[] = {"layernorm", "rmsnorm"};
    for (int i = 0; i < 2; i++) {
        char text[CASE_TEXT];
        snprintf(text, sizeof text, "%s/%s", layers[i], q->tail);
        if (!(q->two[i] = fixtures_get(&q->by->all, text, q->by->why, sizeof q->by->why)))
            return false;
    }
    return true;
}

bool quantity_compute(const quantity *of, question *q, figure *out) {
    if (of->pass && strncmp(q->tail, of->pass, strlen(of->pass)) != 0)
        return fail(q, "this quantity is defined only for %s", of->pass);
    if (!of->alone && !get_two(q)) return false;
    return of->compute ? exactly(of->compute(q->two[of->side]), out) : of->get(q, out);
}

const quantity *quantity_find(const char *name) {
    for (size_t i = 0; i < quantities_count; i++)
        if (strcmp(quantities[i].name, name) == 0) return &quantities[i];
    return NULL;
}

bool quantity_of_layers(const quantity *q) {
    return q->race == race_of_layers;
}
