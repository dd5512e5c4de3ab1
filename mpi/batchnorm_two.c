/* idea   Two-pass, as batchnorm/two_pass.c. One allreduce of the sums of x gives every rank the
 *        mean; a second allreduce, of the squares around the mean, gives the variance.
 * gain   None in time: this rung is the baseline of the others. No rank needs more memory than its
 *        own samples.
 * fails  Pays the network's latency twice, and the second allreduce cannot begin before the first
 *        has ended. The error grows with mean/sigma.
 * SPDX-License-Identifier: MIT */
#include "groups.h"

/* The sums of x, or of (x - mean)^2 if `mean` is given. */
NL_INLINE float *sums(nl_view v, const nl_ranks *r, nl_job *job, const float *mean) {
    nl_job_make(job, r, &nl_sums, v.c);
    for (size_t g = 0; g < r->own; g++)
        for (size_t j = 0; j < v.c; j++) {
            float sum = 0;
            for (size_t i = r->begin[g]; i < r->begin[g + 1]; i++)
                for (size_t k = 0; k < v.s; k++) {
                    const float x = nl_x(v, nl_at(v, i, j, k)), d = mean ? x - mean[j] : 0;
                    sum += mean ? d * d : x;
                }
            nl_part(job, g)[j] = sum;
        }
    return nl_job_run(job);
}

NL_INLINE void kernel(nl_view v, const nl_ranks *r) {
    const float m = (float)(r->total * v.s);
    nl_job first, second;
    float *mean = sums(v, r, &first, NULL);
    for (size_t j = 0; j < v.c; j++) mean[j] /= m;
    const float *squares = sums(v, r, &second, mean);
    for (size_t j = 0; j < v.c; j++) nl_group_put(v, r, false, j, mean[j], squares[j] / m);
    nl_job_free(&first);
    nl_job_free(&second);
}

NL_FORWARD_RUNG(batchnorm_two, NL_BIT(NL_BATCHNORM), NL_TWO_PASS, false);
