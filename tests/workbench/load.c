/* Tests the interface for kernels of --load: its version number, and false fields of a kernel.
 * SPDX-License-Identifier: MIT */
#include "jobs.h"
#include "layer.h"
#include "normlab_kernel.h"
#include "registry.h"
#include "workbench/lab.h"
#include "workbench/load.h"

#include <stdio.h>

#define AT(type, member, was) \
    { #type "." #member, offsetof(type, member), was }

/* A compiled library depends on these values. If one of them changes, NL_KERNEL_ABI must change. */
Test(load, the_number_changes_with_the_layout) {
    static const struct {
        const char *what;
        size_t is, was;
    } facts[] = {
        {"sizeof(nl_impl)", sizeof(nl_impl), 96},
        AT(nl_impl, isa, 8),
        AT(nl_impl, about, 16),
        AT(nl_impl, ops, 24),
        AT(nl_impl, passes, 28),
        AT(nl_impl, dtypes, 32),
        AT(nl_impl, c_max, 40),
        AT(nl_impl, thresholds, 48),
        AT(nl_impl, threaded, 56),
        AT(nl_impl, strided, 57),
        AT(nl_impl, streams, 58),
        AT(nl_impl, heeds_stores, 59),
        AT(nl_impl, range_safe, 60),
        AT(nl_impl, demonstration, 61),
        AT(nl_impl, method, 64),
        AT(nl_impl, lanes, 68),
        AT(nl_impl, forward, 72),
        AT(nl_impl, backward, 80),
        AT(nl_impl, scratch, 88),
        {"sizeof(nl_threshold)", sizeof(nl_threshold), 16},
        AT(nl_threshold, size, 8),
        {"sizeof(nl_problem)", sizeof(nl_problem), 152},
        AT(nl_problem, pass, 4),
        AT(nl_problem, dtype, 8),
        AT(nl_problem, casting, 12),
        AT(nl_problem, n, 16),
        AT(nl_problem, c, 24),
        AT(nl_problem, s, 32),
        AT(nl_problem, eps, 40),
        AT(nl_problem, momentum, 44),
        AT(nl_problem, biased_running_var, 48),
        AT(nl_problem, stores, 52),
        AT(nl_problem, parameters, 56),
        AT(nl_problem, sum, 60),
        AT(nl_problem, inner, 64),
        AT(nl_problem, x_stride, 72),
        AT(nl_problem, dy_stride, 88),
        AT(nl_problem, residual_stride, 104),
        AT(nl_problem, y_stride, 120),
        AT(nl_problem, residual_out_stride, 136),
        {"sizeof(nl_forward_args)", sizeof(nl_forward_args), 104},
        AT(nl_forward_args, residual, 8),
        AT(nl_forward_args, gate, 16),
        AT(nl_forward_args, gamma, 24),
        AT(nl_forward_args, beta, 32),
        AT(nl_forward_args, y, 40),
        AT(nl_forward_args, residual_out, 48),
        AT(nl_forward_args, mean, 56),
        AT(nl_forward_args, rstd, 64),
        AT(nl_forward_args, running_mean, 72),
        AT(nl_forward_args, running_var, 80),
        AT(nl_forward_args, scratch, 88),
        AT(nl_forward_args, plan, 96),
        {"sizeof(nl_plan)", sizeof(nl_plan), 40},
        AT(nl_plan, each, 8),
        AT(nl_plan, first, 16),
        AT(nl_plan, first_cache, 24),
        AT(nl_plan, rows, 32),
        {"sizeof(nl_rows)", sizeof(nl_rows), 96},
        {"sizeof(nl_backward_args)", sizeof(nl_backward_args), 104},
        AT(nl_backward_args, dy, 8),
        AT(nl_backward_args, dresidual, 16),
        AT(nl_backward_args, gate, 24),
        AT(nl_backward_args, gamma, 32),
        AT(nl_backward_args, mean, 40),
        AT(nl_backward_args, rstd, 48),
        AT(nl_backward_args, dx, 56),
        AT(nl_backward_args, dgate, 64),
        AT(nl_backward_args, dgamma, 72),
        AT(nl_backward_args, dbeta, 80),
        AT(nl_backward_args, scratch, 88),
        AT(nl_backward_args, plan, 96),
        {"sizeof(nl_layer)", sizeof(nl_layer), 48},
        AT(nl_layer, channels_first, 32),
        AT(nl_layer, by_channel, 33),
        AT(nl_layer, centred, 34),
        AT(nl_layer, plus_one, 35),
        AT(nl_layer, beta, 36),
        AT(nl_layer, running, 37),
        AT(nl_layer, residual, 38),
        AT(nl_layer, gate, 40),
        {"NL_GATE_FIRST_RMSNORM", NL_GATE_FIRST_RMSNORM, 5},
        {"NL_INFERENCE", NL_INFERENCE, 2},
        {"NL_BF16", NL_BF16, 2},
        {"NL_CAST_BEFORE_WEIGHT", NL_CAST_BEFORE_WEIGHT, 1},
        {"NL_STORES_STREAMING", NL_STORES_STREAMING, 2},
        {"NL_REFINED", NL_REFINED, 4},
        {"NL_OF_ELEMENTS", NL_OF_ELEMENTS, 5},
    };
    cr_assert_eq(NL_KERNEL_ABI, 3, "NL_KERNEL_ABI is new: write the new layout here");
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        cr_assert_eq(facts[i].is, facts[i].was, "%s is %zu, was %zu: raise NL_KERNEL_ABI",
                     facts[i].what, facts[i].is, facts[i].was);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)p, (void)a, (void)threads;
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    (void)p, (void)a, (void)threads;
}

static const nl_impl good = TEST_IMPL(.name = "mine/all", .forward = forward, .backward = backward);

static void refuses(nl_impl bad, const char *words) {
    char why[300] = "";
    cr_assert(!load_accepts(&bad, why, sizeof why), "accepted, and should say: %s", words);
    cr_assert(strstr(why, words), "says \"%s\", not \"%s\"", why, words);
}

#define BUT(...)          \
    ({                    \
        nl_impl m = good; \
        nl_impl *k = &m;  \
        __VA_ARGS__;      \
        m;                \
    })

Test(load, refuses_what_cannot_be) {
    static const nl_threshold axis[] = {{NL_OF_ELEMENTS + 1, 4}, {0}};
    static nl_threshold endless[100];
    char why[300];
    for (size_t i = 0; i < 100; i++) endless[i] = (nl_threshold){NL_OF_C, 1 + i};
    cr_assert(load_accepts(&good, why, sizeof why), "%s", why);
    refuses(BUT(k->name = NULL), "NL_IMPL");
    static const char *const names[] = {"",      "mine",  "/mine", "mine/", "a/b/c",
                                        "a,b/c", "a/b@c", "a/b*",  "a/b c", "a/\n"};
    static const char longest[] = "mine/0123456789012345678901234567890123456789012345678901234567";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        refuses(BUT(k->name = names[i]), "should be FOLDER/NAME");
    refuses(BUT(k->name = longest), "should be FOLDER/NAME");
    refuses(BUT(k->name = "peer/mine"), "peers");
    refuses(BUT(k->isa = NULL), "isa is 'NULL'");
    refuses(BUT(k->isa = "mmx"), "isa is 'mmx'");
    refuses(BUT(k->about = NULL), "about");
    refuses(BUT(k->about = "a \"b\""), "about");
    refuses(BUT(k->about = "a\033[31m"), "about");
    static char endless_about[300];
    memset(endless_about, 'a', sizeof endless_about - 1);
    refuses(BUT(k->about = endless_about), "about");
    refuses(BUT(k->ops = 0), "ops is 0");
    refuses(BUT(k->ops = NL_BIT(NL_OPS)), "ops is");
    refuses(BUT(k->dtypes = 0), "dtypes is 0");
    refuses(BUT(k->dtypes = NL_BIT(NL_DTYPES)), "dtypes is");
    refuses(BUT(k->passes = 0), "passes is 0");
    refuses(BUT(k->passes = NL_BIT(NL_PASSES)), "passes is");
    refuses(BUT(k->ops = NL_BIT(NL_RMSNORM)), "passes is 0x7, but its layers have the passes 0x3");
    refuses(BUT(k->forward = NULL), ".forward is NULL");
    refuses(BUT(k->backward = NULL), ".backward is NULL");
    refuses(BUT(k->forward = NULL, k->passes = NL_BIT(NL_INFERENCE)), ".forward is NULL");
    refuses(BUT(k->method = NL_REFINED + 1), "method is 5");
    refuses(BUT(k->lanes = 0), "lanes is 0");
    refuses(BUT(k->thresholds = axis), "thresholds");
    refuses(BUT(k->thresholds = endless), "thresholds");
    nl_impl one = BUT(k->passes = NL_BIT(NL_BACKWARD), k->forward = NULL);
    cr_assert(load_accepts(&one, why, sizeof why), "%s", why);
}

Test(load, best_never_chooses_it) {
    static nl_impl added;
    added = BUT(k->streams = true);
    cr_assert(nl_registry_add(&added));
    cr_assert(!nl_is_own(&added) && nl_is_own(nl_impl_at(0)));
    for (size_t j = 0; j < JOBS * NL_DTYPES; j++) {
        const struct job *job = &jobs[j / NL_DTYPES];
        nl_problem p = {.op = job->op, .pass = job->pass, .n = 4, .c = 8, .s = 1};
        p.dtype = (nl_dtype)(j % NL_DTYPES);
        cr_assert_neq(nl_best(&p, 1), &added, "nl_best() of %s", spelled(&p));
    }
}

Test(load, a_page_without_the_project_has_no_links) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    lab_write_page(lab_find("1"), "/no/such/folder", out);
    fclose(out);
    cr_expect(strstr(text, "*The formulas* of docs/forward.md (docs/forward.md)"), "%s", text);
    cr_expect(
        strstr(text, "\nHow does the error grow with the length of the row? (docs/pictures/"));
    cr_expect(!strstr(text, "](..") && !strstr(text, "](/"));
    free(text);
}
