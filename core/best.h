/* Dispatch, every decision by size: which implementation, how many threads, which stores. Kernels
 * decide nothing. SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Long rows are summed in pieces of this many elements: threads can share a row without changing a
 * bit. */
enum { NL_ROW_PIECE = 16384 };

/* How nl_forward() and nl_backward() run impl. On one thread: where it is not threaded, or nl_best()
 * would not take it yet, as the problem is too small; else on as many as can start (parallel.h). */
void nl_make_plan(nl_plan *plan, const nl_impl *impl, const nl_problem *p, int threads);

static inline nl_plan nl_plan_of(const nl_impl *impl, const nl_problem *p, int threads) {
    nl_plan plan;
    nl_make_plan(&plan, impl, p, threads);
    return plan;
}
