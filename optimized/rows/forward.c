/* The loops (row by row, or pipelined) of recipes that do not stream and are not TWO_PASS.
 * SPDX-License-Identifier: MIT */
#include "output.h"

NL_INLINE void put_or_in_double(const nl_view *v, nl_view row, size_t r, stats s, row_recipe q) {
    if (s.in_double) {
        in_double(v, r, q.centred);
        return;
    }
    nl_keep(row, s.m + s.c, s.rstd);
    put_row(row, s, q);
}

/* The last row, and a row computed in double, are written without summing a next row. */
NL_INLINE void pipelined_rows(nl_view v, const nl_view *whole, double per_c, row_recipe q) {
    stats s = {0};
    bool known = false; /* s already holds this row's statistics */
    for (size_t r = 0; r < v.n; r++) {
        const nl_view row = nl_row(v, r), next = nl_row(v, r + 1);
        if (!known) s = row_stats(whole, r, per_c, q);
        known = r + 1 < v.n && !s.in_double;
        if (!known) {
            put_or_in_double(whole, row, r, s, q);
            continue;
        }
        nl_keep(row, s.m + s.c, s.rstd);
        const float guess = guess_mean(next, per_c, q);
        const totals sums = put_row_and_sum(row, s, next, guess, q);
        s = stats_from(whole, r + 1, per_c, guess, sums, q);
    }
}

NL_INLINE void all_rows(nl_view v, row_recipe q) {
    const double per_c = 1 / (double)v.c;
    const nl_view whole = v;
    assume(q.statistics != TWO_PASS);
    if (q.pipelined && v.c <= PIECE && v.n > 1) {
        pipelined_rows(v, &whole, per_c, q);
        return;
    }
    for (size_t r = 0; r < v.n; r++) {
        const stats s = row_stats(&whole, r, per_c, q);
        put_or_in_double(&whole, nl_row(v, r), r, s, q);
    }
}

#include "instances.h"

void rows_forward(const nl_problem *p, const nl_forward_args *a, const row_recipe *q) {
    if (lacks_parameters(p, a))
        with_parameters(rows_forward, p, a, q);
    else if (q->streaming)
        rows_streamed(p, a, q);
    else if (q->statistics == TWO_PASS)
        rows_read_twice(p, a, q);
    else
        run_rows(p, a, q);
}
