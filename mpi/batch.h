/* What the rungs of BatchNorm share. SPDX-License-Identifier: MIT */
#ifndef NL_RANKS_BATCH_H
#define NL_RANKS_BATCH_H

#include "ranks.h"

/* Count, mean and M2 of channels j0 to j1 - 1 in each own segment, each in two passes. */
NL_INLINE void nl_batch_moments(nl_view v, nl_job *job, size_t j0, size_t j1) {
    for (size_t g = 0; g < nl_own(job->ranks); g++) {
        const size_t from = nl_own_begin(job->ranks, g), to = nl_own_begin(job->ranks, g + 1);
        for (size_t j = j0; j < j1; j++) {
            const float m = (float)((to - from) * v.s);
            float sum = 0, squares = 0;
            for (size_t i = from; i < to; i++)
                for (size_t k = 0; k < v.s; k++) sum += nl_x(v, nl_at(v, i, j, k));
            const float mean = sum / m;
            for (size_t i = from; i < to; i++)
                for (size_t k = 0; k < v.s; k++) {
                    const float d = nl_x(v, nl_at(v, i, j, k)) - mean;
                    squares += d * d;
                }
            float *part = nl_part(job, g) + 3 * (j - j0);
            part[0] = m, part[1] = mean, part[2] = squares;
        }
    }
}

/* Saves the statistics of channel j, which are those of all ranks, and stores this rank's y. */
NL_INLINE void nl_batch_output(nl_view v, const nl_ranks *r, size_t j, float mean, float var) {
    const float rstd = 1 / sqrtf(var + v.eps);
    nl_view whole = v;
    whole.n = r->total;
    nl_keep_channel(whole, j, mean, var, rstd);
    for (size_t i = 0; i < v.n; i++)
        for (size_t k = 0; k < v.s; k++) {
            const size_t at = nl_at(v, i, j, k);
            nl_put(v, at, j, (nl_x(v, at) - mean) * rstd);
        }
}

#endif
