/* Tests that bench does not time an implementation that is wrong on the short suite.
 * SPDX-License-Identifier: MIT */
#include "registry.h"
#include "support.h"
#include "cli/admission.h"

TestSuite(admission, .init = one_thread);

/* A kernel that is wrong only on rows of 67 values. */
static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    nl_problem q = *p;
    if (p->c == 67) q.eps *= 10;
    nl_find("rmsnorm/naive", "c")->forward(&q, a, threads);
}

Test(admission, wrong_elsewhere) {
    static nl_impl wrong;
    admission admissions[512] = {{0}};
    const case_options o = {.impl = "try/wrong,rmsnorm/*", .threads = 1};
    const nl_impl *naive = nl_find("rmsnorm/naive", "c");
    char error[700] = "";
    nl_case c, half, back;
    wrong = *naive;
    wrong.name = "try/wrong", wrong.forward = forward;
    cr_assert(nl_registry_add(&wrong) && nl_impl_count() <= 512);
    cr_assert(case_parse("rmsnorm/forward/f32/64x1024/normal", &c, error, sizeof error));
    cr_assert(case_parse("rmsnorm/forward/f16/64x1024/normal", &half, error, sizeof error));
    cr_assert(case_parse("rmsnorm/backward/f32/64x1024/normal", &back, error, sizeof error));
    cr_expect_null(admission_failure(admissions, &wrong, &c)); /* not known yet */
    cr_assert(admission_check(admissions, &o, &c, error, sizeof error), "%s", error);
    const char *why = admission_failure(admissions, &wrong, &c);
    cr_assert(why && strstr(why, "rmsnorm/forward/f32/3x67/normal"), "%s", why ? why : "right");
    cr_expect(strstr(why, "normlab check --impl 'try/wrong@c'"), "%s", why);
    cr_expect_null(admission_failure(admissions, naive, &c));
    cr_expect_null(
        admission_failure(admissions, &wrong, &half)); /* each type is verified separately */
    cr_assert(admission_check(admissions, &o, &half, error, sizeof error), "%s", error);
    cr_expect(admission_failure(admissions, &wrong, &half));
    cr_assert(admission_check(admissions, &o, &back, error, sizeof error), "%s", error);
    for (size_t i = 0; i < nl_impl_count(); i++) /* all other kernels are right, in backward too */
        if (nl_impl_at(i) != &wrong)
            cr_expect_null(admission_failure(admissions, nl_impl_at(i), &back), "%s",
                           nl_impl_at(i)->name);
}
