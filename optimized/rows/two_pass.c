/* The loop of recipes that read each row twice before they write the row.
 * SPDX-License-Identifier: MIT */
#include "output.h"

NL_INLINE stats row_stats_twice(nl_view row, double per_c, row_recipe q) {
    if (!q.centred) return root_mean_square(row, per_c, sum_row(row, 0, q), q);
    const float m = (float)(sum_row(row, 0, q).d * per_c);
    return from_sums(row, per_c, m, (totals){0, sum_row(row, m, q).squares});
}

NL_INLINE void all_rows(nl_view v, row_recipe q) {
    const double per_c = 1 / (double)v.c;
    q.statistics = TWO_PASS; /* makes it a compile-time constant */
    for (size_t r = 0; r < v.n; r++) {
        const nl_view row = nl_row(v, r);
        const stats s = row_stats_twice(row, per_c, q);
        nl_keep(row, s.m + s.c, s.rstd);
        put_row(row, s, q);
    }
}

#include "instances.h"

void rows_read_twice(const nl_problem *p, const nl_forward_args *a, const row_recipe *q) {
    run_rows(p, a, q);
}
