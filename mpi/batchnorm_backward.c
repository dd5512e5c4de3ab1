/* idea   The formula is batchnorm/backward.c's. dx needs the sums of dy and of dy * xhat over all
 *        samples, and both travel in one allreduce. The two sums are also dbeta and dgamma.
 * gain   Pays one latency per layer, because every rank already has forward's statistics.
 * fails  No computation overlaps with the allreduce, because dx needs both sums.
 * SPDX-License-Identifier: MIT */
#include "ranks.h"

NL_INLINE float *sums(nl_backward_view v, const nl_ranks *r, nl_job *job) {
    nl_job_make(job, r, &nl_sums, 2 * v.c);
    for (size_t g = 0; g < r->own; g++)
        for (size_t j = 0; j < v.c; j++) {
            float dy_sum = 0, dyx_sum = 0;
            for (size_t i = r->begin[g]; i < r->begin[g + 1]; i++)
                for (size_t k = 0; k < v.s; k++) {
                    const size_t at = (i * v.c + j) * v.s + k;
                    const float dy = nl_load(v.t, v.dy, at);
                    dy_sum += dy;
                    dyx_sum += dy * ((nl_load(v.t, v.x, at) - v.mean[j]) * v.rstd[j]);
                }
            nl_part(job, g)[j] = dy_sum, nl_part(job, g)[v.c + j] = dyx_sum;
        }
    return nl_job_run(job);
}

static void backward(const nl_ranks *r, const nl_problem *p, const nl_backward_args *a) {
    const nl_backward_view v = nl_backward_view_of(p, a);
    const float m = (float)(r->total * v.s);
    nl_job job;
    const float *dy_sum = sums(v, r, &job), *dyx_sum = dy_sum + v.c;

    for (size_t j = 0; j < v.c; j++) {
        if (v.dgamma) v.dgamma[j] = dyx_sum[j];
        if (v.dbeta) v.dbeta[j] = dy_sum[j];
        const float gain = nl_gain(v.gamma, v.plus_one, j) * v.rstd[j];
        for (size_t i = 0; i < v.n; i++)
            for (size_t k = 0; k < v.s; k++) {
                const size_t at = (i * v.c + j) * v.s + k;
                const float dy = nl_load(v.t, v.dy, at);
                const float xhat = (nl_load(v.t, v.x, at) - v.mean[j]) * v.rstd[j];
                nl_store(v.t, v.dx, at, gain * (dy - dy_sum[j] / m - xhat * (dyx_sum[j] / m)));
            }
    }
    nl_job_free(&job);
}

NL_RUNG(batchnorm_backward, NL_BACKWARD, NL_BIT(NL_BATCHNORM), NL_TWO_PASS, 0,
        .backward = backward);
