/* What the rungs with split features share: a rank has some of the features of every row.
 * SPDX-License-Identifier: MIT */
#ifndef NL_RANKS_ROWS_H
#define NL_RANKS_ROWS_H

#include "ranks.h"

/* Starts the reduction of rows r0 to r1 - 1: LayerNorm sends count, mean and M2 of each, the RMS
 * norms only the sum of squares. */
NL_INLINE void nl_rows_moments(nl_view v, const nl_ranks *r, nl_job *job, size_t r0, size_t r1) {
    nl_job_make(job, r, v.centred ? &nl_moments : &nl_sums, r1 - r0);
    for (size_t g = 0; g < nl_own(r); g++) {
        const size_t from = nl_own_begin(r, g), to = nl_own_begin(r, g + 1);
        const float m = (float)(to - from);
        for (size_t at = r0; at < r1; at++) {
            const nl_view row = nl_row(v, at);
            float sum = 0, squares = 0;
            for (size_t i = from; v.centred && i < to; i++) sum += nl_x(row, i);
            const float mean = sum / m;
            for (size_t i = from; i < to; i++) {
                const float d = nl_x(row, i) - mean;
                squares += d * d;
            }
            float *part = nl_part(job, g) + (at - r0) * job->how->width;
            if (v.centred) *part++ = m, *part++ = mean;
            *part = squares;
        }
    }
}

/* Saves the statistics of rows from r0 on, and stores this rank's part of y; frees the job. */
NL_INLINE void nl_rows_output(nl_view v, nl_job *job, const float *moments, size_t r0) {
    for (size_t at = r0; at < r0 + job->elements; at++, moments += job->how->width) {
        const nl_view row = nl_row(v, at);
        const float mean = v.centred ? moments[1] : 0;
        const float var = moments[v.centred ? 2 : 0] / (float)job->ranks->total;
        const float rstd = 1 / sqrtf(var + v.eps);
        nl_keep(row, mean, rstd);
        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, (nl_x(row, i) - mean) * rstd);
    }
    nl_job_free(job);
}

#endif
