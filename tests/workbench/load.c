/* Tests the interface for kernels of --load: false fields of a kernel are refused.
 * SPDX-License-Identifier: MIT */
#include "jobs.h"
#include "layer.h"
#include "registry.h"
#include "workbench/lab.h"
#include "workbench/load.h"

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
