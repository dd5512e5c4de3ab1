/* idea   Takes the root mean square of the first sixteenth of the features instead of all.
 * gain   The statistics read a sixteenth of each row.
 * fails  If the first features differ from the others: small first features make y too large.
 * SPDX-License-Identifier: MIT */
#include "timing/fixture.h"
#include "dtype.h"
#include "kernel.h"

size_t partial_features(size_t c) {
    return c < 16 ? 1 : c / 16;
}

NL_INLINE void rmsnorm(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);
        size_t k = partial_features(v.c);

        float squares = 0;
        for (size_t i = 0; i < k; i++) squares += nl_x(row, i) * nl_x(row, i);
        float rstd = 1 / sqrtf(squares / k + v.eps);

        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, nl_x(row, i) * rstd);
        nl_keep(row, 0, rstd);
    }
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    nl_with_type(p, a, rmsnorm);
}

/* lanes = 16: the bound for c terms in 16 lanes, c / 16 + 16, covers c / 16 terms in one lane. */
const nl_impl partial_impl = {.name = "rmsnorm/partial",
                              .isa = "c",
                              .about = "the root from the first sixteenth of the features",
                              .ops = NL_BIT(NL_RMSNORM),
                              .passes = NL_BIT(NL_FORWARD),
                              .dtypes = NL_ALL_DTYPES,

                              .method = NL_TWO_PASS,
                              .lanes = 16,
                              .forward = forward};

bool partial_answer(const nl_case *c, nl_data *data, answer *out) {
    const nl_problem *p = &c->problem;
    if (!answer_make(c, data, out)) return false;
    ref_outputs *o = &out->want;
    for (size_t r = 0; r < p->n; r++) {
        size_t k = partial_features(p->c);
        long double squares = 0, before = o->rstd[r];
        for (size_t i = 0; i < k; i++) {
            long double x = nl_load(p->dtype, data->input[NL_X], r * p->c + i);
            if (c->residual) x += nl_load(p->dtype, data->input[NL_RESIDUAL], r * p->c + i);
            squares += x * x;
        }
        o->var[r] = squares / k;
        o->rstd[r] = 1 / sqrtl(o->var[r] + p->eps);
        for (size_t i = r * p->c; i < (r + 1) * p->c; i++)
            o->xhat[i] = (double)(o->xhat[i] / before * o->rstd[r]);
    }
    return true;
}
