/* SPDX-License-Identifier: MIT */
#include "verify/check.h"
#include "base/interrupt.h"

#include <stdio.h>

static verdict check_impl(const nl_case *c, const nl_data *data, const answer *want,
                          const nl_impl *m, const check_settings *o) {
    verdict v = {.outcome = OUTCOME_SKIP};
    if (!nl_isa_runs(m->isa)) {
        snprintf(v.why, sizeof v.why, "this processor has no %s", m->isa);
        return v;
    }
    for (placement at = PLACE_END; at <= PLACE_START; at++) {
        v = verify(c, data, want, m, at, o->threads);
        if (o->noted && !o->noted(o->context, c, m, &v)) return failure("out of %s", "memory");
        if (v.outcome == OUTCOME_FAIL) break;
    }
    return v;
}

bool check_case(const nl_case *c, const check_settings *o, char *error, size_t error_size) {
    nl_data data;
    answer want;
    bool wanted = o->model && !c->kind[NL_X].value; /* a file may have its own output */
    for (size_t i = 0; !wanted && i < nl_impl_count(); i++)
        wanted = o->selects(o->context, nl_impl_at(i), c);
    if (!wanted) return true;
    if (!data_make(c, &data, error, error_size)) return false;
    if (!answer_make(c, &data, &want)) {
        snprintf(error, error_size, "no memory for the reference of %s", c->text);
        return data_free(&data), false;
    }
    expected_make_plain(c, &data, &want);
    if (data.model_y && o->model) {
        verdict v = verify_model(c, &data, &want);
        o->judged(o->context, c, NULL, &v);
    }
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        if (interrupted() || !o->selects(o->context, m, c)) continue;
        verdict v = check_impl(c, &data, &want, m, o);
        o->judged(o->context, c, m, &v);
    }
    answer_free(&want);
    data_free(&data);
    return true;
}
