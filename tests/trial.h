/* Calls implementations on a case. SPDX-License-Identifier: MIT */
#pragma once

#include "support.h"
#include "tuning.h"
#include "verify/expected.h"
#include "verify/verify.h"

/* A case, its inputs and answer, and guarded buffers for calls of an implementation. */
typedef struct trial {
    nl_case c;
    nl_data data;
    answer want;
    instance in;
} trial;

/* Makes a trial without its answer. */
static inline void trial_make_data(trial *t, const char *text) {
    char error[700] = "no memory";
    *t = (trial){0};
    if (!case_parse(text, &t->c, error, sizeof error) ||
        !data_make(&t->c, &t->data, error, sizeof error))
        cr_assert_fail("%s: %s", text, error);
}

static inline void trial_make(trial *t, const char *text) {
    trial_make_data(t, text);
    if (!answer_make(&t->c, &t->data, &t->want)) cr_assert_fail("%s: no memory", text);
    expected_make_plain(&t->c, &t->data, &t->want); /* as check_case() does */
}

/* Makes a trial to compare calls. Only backward needs the answer, for its mean and rstd. */
static inline void trial_make_calls(trial *t, const char *text) {
    if (strstr(text, "/backward/"))
        trial_make(t, text);
    else
        trial_make_data(t, text);
}

static inline bool trial_place(trial *t, const nl_impl *impl) {
    size_t scratch = nl_scratch_bytes(impl, &t->c.problem);
    bool ok = instance_make(&t->c, &t->data, impl, scratch, PLACE_END, &t->in);
    if (!ok) cr_assert_fail("%s: no memory for its buffers", t->c.text);
    return ok;
}

static inline void trial_call(trial *t, int threads) {
    if (instance_call(&t->in, threads) != NL_OK)
        cr_assert_fail("%s on %s: %s", t->in.impl->name, t->c.text, nl_message());
}

static inline void trial_end(trial *t) {
    instance_free(&t->in), answer_free(&t->want), data_free(&t->data);
}

/* A call with only the buffers that the layer and the pass take. */
static inline nl_status call_with(const nl_impl *impl, const nl_problem *p, int threads,
                                  void *const at[NL_ARGS]) {
    const nl_case c = {.problem = *p};
    instance in = {.c = &c, .impl = impl};
    for (nl_arg a = 0; a < NL_ARGS; a++)
        in.at[a] = nl_takes(p->op, p->pass) & NL_BIT(a) ? at[a] : NULL;
    return instance_call(&in, threads);
}

/* A suite's .init: calls use their threads at any size. */
static inline void fork_always(void) {
    nl_tuning t = *nl_tuning_now();
    t.fork_forward = t.fork_backward = t.fork_batch = 0;
    nl_tuning_use(&t);
}

static inline bool is_tensor(nl_arg s) {
    return s == NL_X || s == NL_RESIDUAL || s == NL_DY || s == NL_Y || s == NL_RESIDUAL_OUT ||
           s == NL_DX || s == NL_GATE || s == NL_DGATE;
}

/* Does the call write this argument (and perhaps read it before)? */
static inline bool is_result(const trial *t, nl_arg s) {
    bool running = s == NL_RUNNING_MEAN || s == NL_RUNNING_VAR;
    return t->in.at[s] && (running || !t->data.input[s]);
}

/* If `take`, copies the inputs of b's group gb to a's group ga, else compares the results of both
 * groups bit for bit. Skips gamma, beta and their gradients in row norms, whose rows share them. */
static inline bool pair(trial *a, size_t ga, const trial *b, size_t gb, bool take) {
    const nl_problem *p = &a->c.problem, *q = &b->c.problem;
    bool right = true;
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        bool tensor = is_tensor(s), own = tensor || s == NL_MEAN || s == NL_RSTD;
        if (!own && p->op != NL_BATCHNORM) continue;
        if (take ? !a->data.input[s] : !is_result(a, s)) continue;
        size_t bytes = tensor ? nl_dtype_bytes(p->dtype) : sizeof(float);
        for (size_t e = 0; e < (tensor ? group_size(p) : 1); e++) {
            char *to = (char *)a->in.at[s] + (tensor ? element(p, ga, e) : ga) * bytes;
            const char *from = take ? b->data.input[s] : b->in.at[s];
            from += (tensor ? element(q, gb, e) : gb) * bytes;
            if (take) memcpy(to, from, bytes);
            right = right && memcmp(to, from, bytes) == 0;
        }
    }
    return right;
}

static inline bool same_results(const trial *a, const trial *b) {
    bool right = true;
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (is_result(a, s))
            right = right && memcmp(a->in.at[s], b->in.at[s], a->data.bytes[s]) == 0;
    return right;
}

/* Multiplies floats by 2^k. */
static inline void scale(trial *t, nl_arg s, int k) {
    float *f = t->in.at[s];
    for (size_t i = 0; f && i < t->data.bytes[s] / sizeof *f; i++) f[i] = ldexpf(f[i], k);
}
