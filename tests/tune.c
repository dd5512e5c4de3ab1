/* The size from which something pays, by verdicts at rising sizes. SPDX-License-Identifier: MIT */
#include "verbs/tune.h"
#include "best.h"
#include "tuning.h"

#include <criterion/criterion.h>
#include <string.h>

/* Verdicts as letters, F S = ?, and the expected index. */
static void expect(const char *letters, size_t want, bool want_known) {
    static const char names[] =
        {[FASTER] = 'F', [SLOWER] = 'S', [SAME] = '=', [NOT_RESOLVED] = '?'};
    comparison verdicts[8];
    size_t n = strlen(letters);
    for (size_t i = 0; i < n; i++)
        verdicts[i] = (comparison)((const char *)memchr(names, letters[i], sizeof names) - names);
    bool known = !want_known;
    size_t from = tune_from(verdicts, n, &known);
    cr_assert(from == want && known == want_known, "%s: from %zu%s, not %zu%s", letters, from,
              known ? "" : " (not known)", want, want_known ? "" : " (not known)");
}

Test(tune, pays_from_the_least_size_that_wins_and_never_loses_above) {
    expect("SSFFF", 2, true);
    expect("FFFFF", 0, true);
    expect("SFSFF", 3, true);
    expect("SF=FF", 3, true);
    expect("SSSSF", 4, true);
}

Test(tune, never_pays_where_the_largest_size_does_not_win) {
    expect("SSSSS", 5, true);
    expect("FFFFS", 5, true);
    expect("FFFF=", 5, true);
}

Test(tune, what_is_not_resolved_decides_nothing) {
    expect("SS?FF", 3, true);
    expect("SF?F?", 1, true);
    expect("SF???", 1, true);
    expect("SS???", 5, false);
    expect("FFS?", 4, false);
    expect("????", 4, false);
}

Test(tune, what_is_to_be_used_decides_what_is_best) {
    nl_problem p = {.op = NL_LAYERNORM, .dtype = NL_F32, .n = 2, .c = 1024, .s = 1};
    cr_assert_str_eq(nl_best(&p, 2)->name, "optimized/rows_pipelined");
    nl_tuning_use(&(nl_tuning){.stream_bytes = 8192, .fork_forward = 2048});
    cr_assert_str_eq(nl_best(&p, 2)->name, "optimized/rows_threaded");
    cr_assert_str_eq(nl_best(&p, 1)->name, "optimized/rows_streaming");
    cr_assert_str_eq(nl_best_each(&p, 2, nl_isa_best())->name, "optimized/rows_pipelined",
                     "4096 bytes a thread");
}
