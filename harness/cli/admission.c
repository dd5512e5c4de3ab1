/* SPDX-License-Identifier: MIT */
#include "cli/admission.h"
#include "cases/suite.h"
#include "registry.h"
#include "verify/verify.h"
#include "workbench/load.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned long long bit_of(const nl_case *c) {
    const nl_problem *p = &c->problem;
    return 1ull << ((p->op * NL_PASSES + p->pass) * NL_DTYPES + p->dtype);
}

enum { SMALL = 1 << 14 }; /* larger cases are left out, so that the suite takes under a second */

typedef struct job {
    admission *admissions;
    unsigned long long bit;
    const bool *wanted; /* [nl_impl_count()] */
} job;

static bool selects(void *context, const nl_impl *impl, const nl_case *c) {
    const job *j = context;
    const size_t i = impl_index(impl);
    return j->wanted[i] && !(j->admissions[i].wrong & j->bit) && nl_accepts(impl, &c->problem);
}

static void judged(void *context, const nl_case *c, const nl_impl *impl, const verdict *v) {
    const job *j = context;
    admission *a = &j->admissions[impl_index(impl)];
    if (v->outcome != OUTCOME_FAIL) return;
    a->wrong |= j->bit;
    const char *file = load_origin(impl->name, impl->isa);
    snprintf(a->why, sizeof a->why,
             "not timed, because it is wrong on %.100s: %s; see `normlab check%s%.200s%s "
             "--impl '%s@%s'`",
             c->text, v->why, file ? " --load '" : "", file ? file : "", file ? "'" : "",
             impl->name, impl->isa);
}

bool admission_check(admission *admissions, const case_options *o, const nl_case *c, char *error,
                     size_t error_size) {
    const nl_problem *p = &c->problem;
    const nl_impl any = {.ops = NL_BIT(p->op),
                         .passes = NL_BIT(p->pass),
                         .dtypes = NL_BIT(p->dtype)};
    const size_t count = nl_impl_count();
    case_list cases = {0};
    bool *wanted = calloc(count, sizeof *wanted), some = false, ok = true;
    for (size_t i = 0; wanted && i < count; i++) {
        const nl_impl *m = nl_impl_at(i);
        wanted[i] = !nl_is_peer(m->name) && nl_isa_runs(m->isa) &&
                    !(admissions[i].seen & bit_of(c)) && case_options_selects(o, m, c);
        if (wanted[i]) admissions[i].seen |= bit_of(c), some = true;
    }
    job j = {.admissions = admissions, .bit = bit_of(c), .wanted = wanted};
    for (size_t g = 0; some && ok && short_suite_subject(g); g++)
        ok = short_suite_add(g, &any, &cases, error, error_size);
    for (size_t i = 0; some && ok && i < cases.count; i++) {
        const nl_case *at = &cases.items[i];
        if (at->problem.n * at->problem.c * at->problem.s > SMALL) continue;
        const check_settings settings = {.threads = at->threads ? at->threads : 1,
                                         .context = &j,
                                         .selects = selects,
                                         .judged = judged};
        ok = check_case(at, &settings, error, error_size);
    }
    cases_free(&cases);
    free(wanted);
    return ok;
}

const char *admission_failure(const admission *admissions, const nl_impl *impl, const nl_case *c) {
    const admission *a = &admissions[impl_index(impl)];
    return a->wrong & bit_of(c) ? a->why : NULL;
}
