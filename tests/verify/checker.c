/* Tests the checker. It must reject every mutant, on a case that the right kernel passes, and every
 * wrong NaN, and must not judge numbers without a bound. SPDX-License-Identifier: MIT */
#include "cases/suite.h"
#include "benched.h"
#include "mutants.h"
#include "registry.h"
#include "trial.h"

#include <stdio.h>

TestSuite(checker, .init = one_thread);

/* Verifies like `normlab check`, with two calls. */
static verdict by_check(const trial *t, wrong now) {
    nl_impl k = mutant_kernel(NL_TWO_PASS, now);
    int threads = t->c.threads ? t->c.threads : 1;
    verdict v = verify(&t->c, &t->data, &t->want, &k, PLACE_END, threads);
    if (v.outcome == OUTCOME_FAIL) return v;
    return verify(&t->c, &t->data, &t->want, &k, PLACE_START, threads);
}

/* Verifies like `normlab bench`, with many calls between two verdicts. */
static verdict by_bench(const trial *t, wrong now) {
    static nl_impl k; /* static: the table keeps a pointer to it */
    if (!k.name) nl_registry_add(&k);
    k = mutant_kernel(NL_TWO_PASS, now);
    return bench_verdict(&t->c, k.name);
}

Test(checker, rejects_every_mutant) {
    size_t killed = 0;
    for (const mutant *m = mutants; m < mutants + mutant_count; m++) {
        trial t;
        trial_make(&t, m->text);
        verdict right = by_check(&t, (wrong){0}), v = by_check(&t, m->w);
        if (v.outcome != OUTCOME_FAIL) right = by_bench(&t, (wrong){0}), v = by_bench(&t, m->w);
        if (right.outcome != OUTCOME_OK) cr_assert_fail("%s, right: %s", m->text, right.why);
        killed += v.outcome == OUTCOME_FAIL;
        const char *fate = v.outcome == OUTCOME_FAIL ? "killed" : "SURVIVED";
        fprintf(stderr, "%-8s %-26s %s\n", fate, m->name, v.why);
        trial_end(&t);
    }
    fprintf(stderr, "killed   %zu of %zu mutants\n", killed, mutant_count);
    cr_assert(killed == mutant_count && killed > 0, "%zu mutants survived", mutant_count - killed);
}

/* Results are within the bound, but a row's last bits depend on the number of rows or on the row's
 * place. The verdict notes it; with verify_batches it is a failure. */
Test(checker, sees_bits_that_depend_on_the_batch) {
    static const struct {
        const char *text;
        wrong w;
    } cases[] = {{"layernorm/forward/f32/9x64/normal", {.folded = true, .from_rows = 9}},
                 {"layernorm/forward/f32/9x64/normal/residual", {.folded_from = 8}},
                 {"rmsnorm/forward/f32/40x5/normal", {.folded = true, .from_rows = 20}},
                 {"layernorm/backward/f32/9x64/normal", {.raw_sums = true, .from_rows = 3}},
                 {"layernorm/backward/f32/9x64/normal/threads=2",
                  {.raw_sums = true, .from_rows = 9}}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        trial t;
        trial_make(&t, cases[i / 2].text);
        verify_batches = i % 2;
        const verdict right = by_check(&t, (wrong){0}), v = by_check(&t, cases[i / 2].w);
        verify_batches = false;
        cr_expect(right.outcome == OUTCOME_OK && right.batches && !right.depends, "%s", right.why);
        cr_expect(v.outcome == (i % 2 ? OUTCOME_FAIL : OUTCOME_OK) && v.depends == !(i % 2) &&
                      strstr(v.why, "depends on the batch: "),
                  "%s: %s %s", cases[i / 2].text, outcome_name(v.outcome), v.why);
        trial_end(&t);
    }
}

/* Does a mutant fail this case of the suite, and does the right kernel pass? Only cases that could
 * show the mutant are tried: they have the layer, pass and type of the mutant's own case, are not
 * much smaller, and lack or overwrite the same arguments. Mutants do not take strides. */
static bool dies_on(const mutant *m, const nl_case *own, const nl_case *c) {
    const nl_problem *p = &c->problem, *q = &own->problem;
    trial t;
    if (strcmp(own->text, c->text) == 0) return true;
    if (p->op != q->op || p->pass != q->pass || p->dtype != q->dtype ||
        p->n * p->c * p->s < q->n * q->c * q->s / 32 || own->absent & ~c->absent ||
        own->in_place & ~c->in_place || p->x_stride.row)
        return false;
    trial_make(&t, c->text);
    const bool dies = by_check(&t, m->w).outcome == OUTCOME_FAIL &&
                      by_check(&t, (wrong){0}).outcome != OUTCOME_FAIL;
    trial_end(&t);
    return dies;
}

/* Each mutant with in_suite fails some case of the suite, so `normlab check` finds it. */
static void die_in_the_suite(const mutant *first, size_t count) {
    case_list all = {0};
    cr_assert(suite_cases(&all, SUITE_FOR_ALL, 0, (char[700]){0}, 700));
    for (const mutant *m = first; m < first + count; m++) {
        bool found = !m->w.in_suite;
        nl_case own;
        cr_assert(case_parse(m->text, &own, (char[700]){0}, 700));
        for (size_t i = 0; i < all.count && !found; i++) found = dies_on(m, &own, &all.items[i]);
        cr_expect(found, "%s, of %s, survives the suite", m->name, m->text);
    }
    cases_free(&all);
}

Test(checker, mutants_die_in_the_suite) {
    die_in_the_suite(mutants, mutant_count);
}

/* More mutants, with the mistakes of two exhibits of the museum. */
Test(checker, more_mutants_die_in_the_suite) {
    static const mutant more[] = {
        {"mean(g) in RMSNorm's dx",
         "rmsnorm/backward/bf16/8x64/normal",
         {.more_means = 1, .in_suite = true}},
        {"mean(g) twice in dx",
         "layernorm/backward/bf16/8x64/normal",
         {.more_means = 1, .in_suite = true}},
        {"no NaN in odd rows",
         "layernorm/forward/f16/9x9/nan",
         {.odd_numbers = true, .in_suite = true}},
        {"no NaN in odd rows",
         "rmsnorm/forward/f32/9x9/nan",
         {.odd_numbers = true, .in_suite = true}},
        {"no NaN in odd channels",
         "batchnorm/forward/f32/9x9/nan",
         {.odd_numbers = true, .in_suite = true}},
        {"no NaN in odd rows of dy",
         "layernorm/backward/f32/9x9/normal/dy=nan",
         {.odd_numbers = true, .in_suite = true}},
    };
    die_in_the_suite(more, sizeof more / sizeof *more);
}

/* If the variance is 1 % off, y by itself makes the kernel fail, even if the certain bound allows
 * the error. The right kernel passes, although its single accumulator makes the variance 0.4 % too
 * small at 2^22. If errors may be dependent, the certain bound decides. */
Test(checker, a_percent_of_variance) {
    static const struct {
        const char *text;
        bool random;
    } cases[] = {{"rmsnorm/forward/f32/1x131072/normal", true},
                 {"layernorm/forward/f32/1x262144/offset:1", true},
                 {"layernorm/forward/f32/1x1048576/uniform", true},
                 {"rmsnorm/forward/f32/1x4194304/normal", true},
                 {"layernorm/forward/f32/1x2097152/normal", true},
                 {"rmsnorm/forward/f32/1x1048576/constant", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const wrong all[] = {{0}, {.var_off = 0.01f}, {.var_off = -0.01f}};
        trial t;
        trial_make(&t, cases[i].text);
        for (int k = 0; k < 3; k++) {
            nl_impl kernel = mutant_kernel(NL_TWO_PASS, all[k]);
            trial_place(&t, &kernel), trial_call(&t, 1);
            t.in.at[NL_MEAN] = t.in.at[NL_RSTD] = NULL;
            const verdict v = outputs_check(&t.in, &t.want);
            const bool fails = k && cases[i].random;
            if ((v.outcome == OUTCOME_FAIL) != fails)
                cr_assert_fail("%s, %g: %s %s", cases[i].text, (double)all[k].var_off,
                               outcome_name(v.outcome), v.why);
            if (fails) cr_assert(strstr(v.why, "by the probable bound"), "%s", v.why);
            instance_free(&t.in);
        }
        trial_end(&t);
    }
}

/* In every element of every result, a NaN instead of a number fails, and so does a number instead
 * of a NaN or an infinity. In y an infinity of the wrong sign fails. With n = 0 any write fails. */
Test(checker, every_element_counts) {
    case_list list = {0};
    const char *all = "{{{layernorm,rmsnorm,gemma}/{forward,backward},"
                      "batchnorm/{forward,backward,inference}}/{f32,f16,bf16}/{0,3}x5/"
                      "{normal,exact,zeros,constant,offset:16,huge,tiny,nan,inf},"
                      "{layernorm,batchnorm}/forward/{f32,f16,bf16}/3x5/normal/beta=inf}";
    nl_impl two_pass = mutant_kernel(NL_TWO_PASS, (wrong){0});
    cr_assert(cases_add(&list, all, (char[700]){0}, 700), "%s", all);
    for (size_t i = 0; i < list.count; i++) {
        trial t;
        trial_make(&t, list.items[i].text), trial_place(&t, &two_pass), trial_call(&t, 1);
        bool empty = t.c.problem.n == 0;
        outcome clean = outputs_check(&t.in, &t.want).outcome;
        if (clean == OUTCOME_FAIL) cr_assert_fail("%s: the right kernel fails", t.c.text);
        for (nl_arg s = 0; s < NL_ARGS; s++) {
            nl_dtype d = is_tensor(s) ? t.c.problem.dtype : NL_F32;
            for (size_t k = 0; k < t.data.bytes[s] / nl_dtype_bytes(d); k++) {
                float was = nl_load(d, t.in.at[s], k);
                if (!empty && !is_result(&t, s)) continue;
                const float infinite = s == NL_Y ? -was : 0.125f;
                nl_store(d, t.in.at[s], k,
                         empty || isnan(was) ? 0.125f
                         : isinf(was)        ? infinite
                                             : NAN);
                outcome got = outputs_check(&t.in, &t.want).outcome;
                if (got != OUTCOME_FAIL && !(got == OUTCOME_DEMO && clean == OUTCOME_DEMO))
                    cr_assert_fail("%s: %s[%zu]: %s", t.c.text, nl_args[s].name, k,
                                   outcome_name(got));
                nl_store(d, t.in.at[s], k, was);
                if (empty) instance_fill(&t.in); /* storing a NaN again may change its bits */
            }
        }
        trial_end(&t);
    }
    cases_free(&list);
}

/* E[x^2] - E[x]^2 has no bound for a row with a mean of 10000 sigma: that row is not judged,
 * whatever it contains, but its neighbours are judged. Two-pass has a bound. */
Test(checker, promises) {
    static const float values[] = {NAN, 0, 1e30f};
    nl_impl fragile = mutant_kernel(NL_ONE_PASS, (wrong){0}), firm = fragile;
    firm.method = NL_TWO_PASS;
    trial t;
    trial_make(&t, "layernorm/forward/f32/3x64/normal");
    answer_free(&t.want);
    for (size_t e = 0; e < 64; e++) ((float *)t.data.input[NL_X])[64 + e] += 1e4f;
    cr_assert(answer_make(&t.c, &t.data, &t.want) && trial_place(&t, &fragile));
    for (size_t i = 0; i < 3 * 64; i++) {
        outcome got[3], expected = i / 64 == 1 ? OUTCOME_DEMO : OUTCOME_FAIL;
        for (int k = 0; k < 3; k++) { /* 0: right; 1: wrong y[i]; 2: wrong y[i], two-pass */
            t.in.impl = k < 2 ? &fragile : &firm;
            instance_fill(&t.in), trial_call(&t, 1);
            if (k) ((float *)t.in.at[NL_Y])[i] = values[i % 3];
            got[k] = outputs_check(&t.in, &t.want).outcome;
        }
        if (got[0] != OUTCOME_DEMO || got[1] != expected || got[2] != OUTCOME_FAIL)
            cr_assert_fail("y[%zu]: %d %d %d", i, got[0], got[1], got[2]);
    }
    trial_end(&t);
}

/* In inference, too, x * a + b has no bound if the mean is 10^7 sigma; (x - mean) * a has one. */
Test(checker, promises_of_inference) {
    static const char *const cases[] =
        {"batchnorm/inference/f32/6x16/offset:1e7/running_mean=offset:1e7",
         "batchnorm/inference/bf16/1x1/zeros/running_mean=scale:1e30/cast-before-weight"};
    for (size_t i = 0; i < 2; i++) {
        trial t;
        trial_make(&t, cases[i]);
        nl_impl refined = mutant_kernel(NL_REFINED, (wrong){0});
        const verdict folds = by_check(&t, (wrong){0}),
                      firm = verify(&t.c, &t.data, &t.want, &refined, PLACE_END, 1);
        cr_expect(folds.outcome == OUTCOME_DEMO && firm.outcome == OUTCOME_OK, "%s: %s %s, %s %s",
                  cases[i], outcome_name(folds.outcome), folds.why, outcome_name(firm.outcome),
                  firm.why);
        trial_end(&t);
    }
}

/* A kernel that folds the mean into an offset, or sums g * x, is right if the bound of its method
 * grows with mean / sigma, and wrong if its method promises a smaller bound. */
Test(checker, folded_forms) {
    static const struct {
        const char *text;
        wrong form;
        nl_method right, wrong;
    } forms[] = {
        {"layernorm/forward/f32/100x1000/exact", {.folded = true}, NL_TWO_PASS, NL_REFINED},
        {"batchnorm/forward/f32/64x9/exact", {.folded = true}, NL_ONE_PASS, NL_ONE_PASS},
        {"layernorm/forward/f16/9x64/exact", {.folded = true}, NL_TWO_PASS, NL_TWO_PASS},
        {"layernorm/backward/f32/33x7/offset:4096", {.raw_sums = true}, NL_ONE_PASS, NL_TWO_PASS},
        {"layernorm/backward/bf16/9x64/normal", {.raw_sums = true}, NL_ONE_PASS, NL_ONE_PASS},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        trial t;
        trial_make(&t, forms[i].text);
        for (int k = 0; k < 2; k++) {
            const nl_method method = k ? forms[i].wrong : forms[i].right;
            nl_impl form = mutant_kernel(method, forms[i].form);
            const bool right = method == forms[i].right;
            const verdict v = verify(&t.c, &t.data, &t.want, &form, PLACE_END, 1);
            if (v.outcome != (right ? OUTCOME_OK : OUTCOME_FAIL))
                cr_assert_fail("%s, method %d: %s %s", forms[i].text, (int)method,
                               outcome_name(v.outcome), v.why);
        }
        trial_end(&t);
    }
}

/* With no lanes, or with absurdly many lanes, any error would be within the bound. */
Test(checker, lanes_make_the_bound) {
    static const int lanes[] = {1, 256, 0, -1, 257, 1 << 30};
    trial t;
    trial_make(&t, "layernorm/forward/f32/3x64/normal");
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
        nl_impl kernel = mutant_kernel(NL_TWO_PASS, (wrong){0});
        kernel.lanes = lanes[i];
        const verdict v = verify(&t.c, &t.data, &t.want, &kernel, PLACE_END, 1);
        cr_expect(i < 2 ? v.outcome == OUTCOME_OK
                        : v.outcome == OUTCOME_FAIL && strstr(v.why, ".lanes") != NULL,
                  "%d lanes: %s %s", lanes[i], outcome_name(v.outcome), v.why);
    }
    trial_end(&t);
}
