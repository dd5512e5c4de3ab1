/* Dispatch: chooses the implementation, the threads and the stores by the size of a problem.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Elements of a piece. Long rows are summed in pieces, so that threads that share a row give the
 * same bits as one thread. */
enum { NL_ROW_PIECE = 16384 };

/* Plans how nl_forward() and nl_backward() run impl: on one thread if impl is not threaded, or if
 * nl_best() would choose impl only for larger problems; otherwise on nl_team() threads. */
void nl_make_plan(nl_plan *plan, const nl_impl *impl, const nl_problem *p, int threads);

static inline nl_plan nl_plan_of(const nl_impl *impl, const nl_problem *p, int threads) {
    nl_plan plan;
    nl_make_plan(&plan, impl, p, threads);
    return plan;
}
