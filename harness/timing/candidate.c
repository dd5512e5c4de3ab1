/* SPDX-License-Identifier: MIT */
#include "timing/candidate.h"
#include "platform/platform.h"
#include "base/clock.h"
#include "caches.h"

const char *volatile candidate_calls;

static void call(void *context, size_t turn) {
    const candidate *a = context;
    (void)turn;
    for (int i = 0; i < 2 && a->on[i]; i++) {
        instance *in = fixture_next(a->on[i]);
        in->impl = a->unnamed ? NULL : a->impl[i];
        candidate_calls = a->impl[i]->name;
        instance_call(in, a->threads);
    }
}

static void before(void *context) {
    const candidate *a = context;
    for (int i = 0; i < 2 && a->on[i]; i++) fixture_prepare(a->on[i], a->threads);
}

static void begin(void *context, size_t calls) {
    const candidate *a = context;
    for (int i = 0; i < 2 && a->on[i]; i++) fixture_begin(a->on[i], calls);
}

/* Checks outputs whose bits changed: they may be right, as threads may add up in any order. */
static void after(void *context) {
    candidate *a = context;
    candidate_calls = NULL;
    for (int i = 0; i < 2 && a->on[i] && a->after.outcome != OUTCOME_FAIL; i++) {
        uint64_t hash = instance_hash(a->on[i]->last);
        if (hash == a->hash[i] && arithmetic_is_usual()) continue;
        a->after = fixture_check(a->on[i], a->impl[i]);
        a->which = i;
        a->hash[i] = hash;
    }
    arithmetic_restore(); /* a failed candidate must not change other candidates' arithmetic */
}

verdict candidate_verify(candidate *a) {
    verdict v = {.outcome = OUTCOME_OK};
    for (int i = 0; i < 2 && a->on[i] && v.outcome != OUTCOME_FAIL; i++) {
        v = fixture_verify(a->on[i], a->impl[i], a->threads);
        a->hash[i] = instance_hash(a->on[i]->last);
        a->which = i;
    }
    return v;
}

measure_candidate candidate_measured(candidate *a) {
    bool care = fixture_needs_care(a->on[0]) || (a->on[1] && fixture_needs_care(a->on[1]));
    return (measure_candidate){call, a, care ? before : NULL, after, begin};
}

static void limit_before(void *context) {
    const limit_candidate *a = context;
    fixture_prepare(a->on, a->threads);
}

/* With fewer bytes, starting threads takes longer than moving the bytes on one thread. */
enum { FORK_BYTES = 1 << 18 };

static void move(const limit_candidate *a, limit_job j) {
    j.way = a->way;
    limit_move(&j, j.bytes < FORK_BYTES ? 1 : a->threads);
}

/* Moves all tensors together, with inputs of the same length such as gamma and beta of a single
 * row; before that, reads or writes the other arrays one by one. */
static void limit_call(void *context, size_t turn) {
    const limit_candidate *a = context;
    const instance *in = fixture_next(a->on);
    const size_t *bytes = a->on->data.bytes;
    const struct nl_pass_row *pass = &nl_passes[a->on->c.problem.pass];
    limit_job j = {.bytes = bytes[NL_X], .way = a->way};
    (void)turn;
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        if (!in->at[s] || nl_args[s].extent != NL_TENSOR) continue;
        if (pass->writes & NL_BIT(s))
            j.out[j.writes++] = in->at[s];
        else
            j.in[j.reads++] = in->at[s];
    }
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        void *const at = in->at[s];
        const bool reads = pass->reads & NL_BIT(s), writes = pass->writes & NL_BIT(s);
        if (!at || nl_args[s].extent == NL_TENSOR) continue;
        if (!writes && bytes[s] == j.bytes && j.reads < 3 && j.writes < 2)
            j.in[j.reads++] = at;
        else
            move(a, (limit_job){{at}, {at}, reads, writes, bytes[s], {0}});
    }
    limit_move(&j, a->threads);
}

measure_candidate limit_candidate_measured(limit_candidate *a) {
    bool care = fixture_needs_care(a->on);
    return (
        measure_candidate){.call = limit_call, .context = a, .before = care ? limit_before : NULL};
}

static double limit_trial(void *context, limit_way way) {
    limit_candidate *a = context;
    a->way = way;
    measure_candidate m = limit_candidate_measured(a);
    return measure_trial(&m, clock_ns);
}

static limit_candidate limit_candidate_make(fixture *on, limit_store stores, int threads) {
    limit_candidate all = {.on = on, .threads = threads}, one = {.on = on, .threads = 1};
    all.way = limit_choose(stores, true, limit_trial, &all);
    if (threads == 1 || limit_trial(&one, all.way) > 2 * limit_trial(&all, all.way)) return all;
    one.way = limit_choose(stores, true, limit_trial, &one);
    return limit_trial(&one, one.way) < limit_trial(&all, all.way) ? one : all;
}

size_t limit_candidates_make(fixture *on, int threads, limit_candidate candidates[2]) {
    const bool large = case_bytes(&on->c) > nl_cache_bytes(2);
    if (!has_streaming_stores() || !(large || on->c.streaming)) {
        candidates[0] = limit_candidate_make(on, LIMIT_EITHER, threads);
        return 1;
    }
    candidates[0] = limit_candidate_make(on, LIMIT_ORDINARY, threads);
    candidates[1] = limit_candidate_make(on, LIMIT_STREAM, threads);
    return 2;
}
