/* The table of implementations is complete, has no duplicates, agrees with the kernel folders, and
 * has an nl_best() for every problem. SPDX-License-Identifier: MIT */
#include "isa.h"
#include "jobs.h"
#include "layer.h"
#include "registry.h"

#include <glob.h>
#include <stdio.h>
#include <unistd.h>

static nl_problem problem(nl_op op, nl_pass pass, nl_dtype dtype) {
    return (nl_problem){.op = op, .pass = pass, .dtype = dtype, .n = 4, .c = 8, .s = 1};
}

/* Each entry has its file, and each kernel file of a layer, optimized/ or half/ has an entry. A
 * layer may have its rungs in another layer's folder. */
Test(registry, entries_are_files) {
    glob_t files = {0};
    for (int f = 0; f < NL_OPS + 2; f++) {
        char pattern[4096];
        snprintf(pattern, sizeof pattern, "%s/%s/*.c", NL_SOURCE_DIR,
                 f < NL_OPS    ? nl_layers[f].name
                 : f == NL_OPS ? "optimized"
                               : "half");
        glob(pattern, f ? GLOB_APPEND : 0, NULL, &files);
    }
    cr_assert(files.gl_pathc > 0, "no kernel files below %s", NL_SOURCE_DIR);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *name = files.gl_pathv[i] + strlen(NL_SOURCE_DIR) + 1;
        const size_t length = strlen(name) - 2;
        size_t entries = 0;
        for (size_t k = 0; k < nl_impl_count(); k++)
            entries += !strncmp(nl_impl_at(k)->name, name, length) && !nl_impl_at(k)->name[length];
        if (!entries) cr_assert_fail("%s has no entry in the table", name);
    }
    globfree(&files);
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *a = nl_impl_at(i);
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.c", NL_SOURCE_DIR, a->name);
        if (access(path, R_OK)) cr_assert_fail("entry %zu: there is no file %s", i, path);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(a->name, nl_impl_at(j)->name) && !strcmp(a->isa, nl_impl_at(j)->isa))
                cr_assert_fail("entries %zu and %zu are both %s@%s", j, i, a->name, a->isa);
    }
    cr_assert(!nl_impl_at(nl_impl_count()) && !nl_impl_at((size_t)-1),
              "nl_impl_at() past the end of %zu entries is not NULL", nl_impl_count());
}

/* Kernels begin at a cache line, so that other code in the build does not change their times. */
Test(registry, kernels_are_aligned) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *k = nl_impl_at(i);
        if (!nl_is_peer(k->name) && ((uintptr_t)k->forward | (uintptr_t)k->backward) % 64)
            cr_assert_fail("%s@%s does not begin at a multiple of 64", k->name, k->isa);
    }
}

/* The fields of an entry agree with its functions. */
Test(registry, entries_are_complete) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *k = nl_impl_at(i);
        bool forward = k->passes & (NL_BIT(NL_FORWARD) | NL_BIT(NL_INFERENCE));
        bool backward = k->passes & NL_BIT(NL_BACKWARD), some = false;
        for (size_t j = 0; j < JOBS; j++)
            some |= k->ops & NL_BIT(jobs[j].op) && k->passes & NL_BIT(jobs[j].pass);
        const struct {
            bool wrong;
            const char *what;
        } checks[] = {
            {!k->isa || !*k->isa, "isa is empty"},
            {!k->about || strlen(k->about) < 8, "about says little"},
            {!some, "ops and passes accept no valid problem"},
            {k->ops >> NL_OPS != 0, "ops beyond nl_op"},
            {k->passes >> NL_PASSES != 0, "passes beyond nl_pass"},
            {!k->dtypes || k->dtypes >> NL_DTYPES, "dtypes: none, or beyond nl_dtype"},
            {forward != !!k->forward, "forward disagrees with passes"},
            {backward != !!k->backward, "backward disagrees with passes"},
            {k->lanes < 1 || k->lanes & (k->lanes - 1), "lanes: not a power of two"},
            {k->method > NL_REFINED, "method"},
        };
        for (size_t j = 0; j < sizeof checks / sizeof *checks; j++)
            if (checks[j].wrong) cr_assert_fail("%s@%s: %s", k->name, k->isa, checks[j].what);
    }
}

Test(registry, every_problem_has_an_implementation) {
    for (nl_op op = 0; op < NL_OPS; op++)
        for (nl_pass pass = 0; pass < NL_PASSES; pass++)
            for (nl_dtype t = 0; t < NL_DTYPES; t++) {
                nl_problem p = problem(op, pass, t);
                size_t takers = 0, plain = 0;
                for (size_t i = 0; i < nl_impl_count(); i++) {
                    bool takes = nl_accepts(nl_impl_at(i), &p);
                    takers += takes;
                    plain += takes && !strcmp(nl_impl_at(i)->isa, "c");
                }
                bool meaningful = op == NL_BATCHNORM || pass != NL_INFERENCE;
                if (meaningful ? !plain : takers != 0)
                    cr_assert_fail("%s: %zu kernels accept it, %zu in plain C", spelled(&p), takers,
                                   plain);
                cr_assert(!nl_best(&p, 1) == !meaningful, "%s", spelled(&p));
            }
}

/* The table for plain C has the top rung of each layer and pass, and this rung accepts them. */
Test(registry, top_of_the_ladder) {
    for (size_t j = 0; j < JOBS; j++) {
        nl_problem p = problem(jobs[j].op, jobs[j].pass, NL_F32);
        const nl_impl *top = nl_find(jobs[j].top, "c");
        cr_assert(top && nl_accepts(top, &p), "%s is missing or does not take %s", jobs[j].top,
                  spelled(&p));
    }
}

/* All ISAs of each architecture, including those that this build leaves out. */
Test(registry, instruction_sets_are_in_order) {
    static const char *const all[][4] = {{"c", "sse2", "avx2", "avx512"}, {"c", "neon"}};
    for (int k = 0; k < 2; k++)
        for (int i = 1; i < 4 && all[k][i] && nl_isa_index(all[k][1]) >= 0; i++)
            cr_assert(nl_isa_index(all[k][i]) == i, "%s: %d", all[k][i], nl_isa_index(all[k][i]));
    cr_assert(nl_isa_index("c") == 0 && nl_isa_index("none") == -1);
}

Test(registry, find) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *k = nl_impl_at(i), *any = nl_find(k->name, NULL);
        if (nl_find(k->name, k->isa) != k) cr_assert_fail("%s@%s is not found", k->name, k->isa);
        bool right =
            any ? !strcmp(any->name, k->name) && nl_isa_runs(any->isa) : !nl_isa_runs(k->isa);
        if (!right) cr_assert_fail("%s, any ISA: %s", k->name, any ? any->name : "not found");
        if (any && nl_isa_runs(k->isa) && nl_isa_index(k->isa) > nl_isa_index(any->isa))
            cr_assert_fail("%s: %s is found, but %s runs here", k->name, any->isa, k->isa);
    }
    cr_assert(!nl_find("layernorm/none", NULL) && !nl_find("layernorm/none", "c") &&
                  !nl_find("layernorm/naive", "none") && !nl_find("", NULL) &&
                  !nl_find("layernorm/naive.c", NULL) && !nl_find("layernorm", "c") &&
                  !nl_find(NULL, NULL) && !nl_find(NULL, "c"),
              "something unknown is found");
    cr_assert(nl_is_peer("peer/name") && !nl_is_peer("peer") && !nl_is_peer("layernorm/peer/"));
    cr_assert(nl_isa_runs("c") && !nl_isa_runs("none") && !nl_isa_runs("") && !nl_isa_runs(NULL),
              "c runs: %d, none: %d", nl_isa_runs("c"), nl_isa_runs("none"));
}

/* Every test runs in its own process, so no call has failed in this process before. */
Test(registry, no_message_before_a_failure) {
    cr_assert_str_eq(nl_message(), "", "the first message is \"%s\"", nl_message());
    nl_forward(NULL, NULL, NULL, 1);
    cr_assert(*nl_message(), "a failed call left no message");
}
