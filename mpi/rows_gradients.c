/* idea   If rows are split, each rank computes its dx alone; only dgamma and dbeta are sums over
 *        all rows. The library computes each segment, and one allreduce adds the gradients.
 * gain   Uses any kernel of the library, unchanged, and sends 2c floats per layer and step.
 * fails  Every segment needs its own call, even if it has few rows. A framework overlaps the
 *        allreduce with the layers below; this rung waits, although dx is ready.
 * SPDX-License-Identifier: MIT */
#include "ranks.h"

static void backward(const nl_ranks *r, const nl_problem *p, const nl_backward_args *a) {
    nl_job job;
    nl_job_make(&job, r, &nl_sums, 2 * p->c);
    for (size_t g = 0; g < r->own; g++) {
        const size_t row = r->begin[g], bytes = row * p->c * nl_dtype_size(p->dtype);
        nl_problem segment = *p;
        segment.n = r->begin[g + 1] - row;
        nl_backward_args part = *a;
        part.x = (const char *)a->x + bytes, part.dy = (const char *)a->dy + bytes;
        part.dx = (char *)a->dx + bytes;
        if (a->dresidual) part.dresidual = (const char *)a->dresidual + bytes;
        if (a->mean) part.mean = a->mean + row;
        part.rstd = a->rstd + row;
        part.dgamma = nl_part(&job, g);
        part.dbeta = nl_layers[p->op].beta ? nl_part(&job, g) + p->c : NULL;
        if (nl_backward(NULL, &segment, &part, 1) != NL_OK) MPI_Abort(r->comm, 1);
    }
    const float *sums = nl_job_run(&job);
    if (a->dgamma) memcpy(a->dgamma, sums, p->c * sizeof(float));
    if (a->dbeta) memcpy(a->dbeta, sums + p->c, p->c * sizeof(float));
    nl_job_free(&job);
}

NL_RUNG(rows_gradients, NL_BACKWARD, NL_ROW_NORMS, NL_TWO_PASS, 1, .backward = backward);
