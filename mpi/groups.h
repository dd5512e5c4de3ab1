/* Shared by the forward rungs. A group is the elements that share one mean. In BatchNorm a group
 * is a channel, and a rank has some of its samples. In a row norm a group is a row, and a rank has
 * some of its features. SPDX-License-Identifier: MIT */
#pragma once

#include "ranks.h"

NL_INLINE size_t nl_group_at(nl_view v, bool rows, size_t group, size_t i, size_t k) {
    return rows ? nl_at(v, group, i, k) : nl_at(v, i, group, k);
}

/* Starts the reduction of groups j0 to j1 - 1. Two passes over each segment compute count, mean and
 * M2; a layer without a mean needs only the sum of squares. */
NL_INLINE void nl_groups_start(nl_view v, const nl_ranks *r, nl_job *job, bool rows, size_t j0,
                               size_t j1) {
    nl_job_make(job, r, v.centred ? &nl_moments : &nl_sums, j1 - j0);
    for (size_t g = 0; g < r->own; g++) {
        const size_t from = r->begin[g], to = r->begin[g + 1];
        const float m = (float)((to - from) * v.s);
        for (size_t j = j0; j < j1; j++) {
            float sum = 0, squares = 0;
            for (size_t i = from; v.centred && i < to; i++)
                for (size_t k = 0; k < v.s; k++) sum += nl_x(v, nl_group_at(v, rows, j, i, k));
            const float mean = sum / m;
            for (size_t i = from; i < to; i++)
                for (size_t k = 0; k < v.s; k++) {
                    const float d = nl_x(v, nl_group_at(v, rows, j, i, k)) - mean;
                    squares += d * d;
                }
            float *part = nl_part(job, g) + (j - j0) * job->how->width;
            if (v.centred) *part++ = m, *part++ = mean;
            *part = squares;
        }
    }
    r->order->start(job);
}

/* Stores this rank's part of a group's y, and saves the statistics over all ranks. */
NL_INLINE void nl_group_put(nl_view v, const nl_ranks *r, bool rows, size_t j, float mean,
                            float var) {
    const float rstd = 1 / sqrtf(var + v.eps);
    for (size_t i = 0; i < (rows ? v.c : v.n); i++)
        for (size_t k = 0; k < v.s; k++) {
            const size_t at = nl_group_at(v, rows, j, i, k);
            nl_put(v, at, rows ? i : j, (nl_x(v, at) - mean) * rstd);
        }
    if (rows) nl_keep(nl_row(v, j), mean, rstd);
    v.n = r->total;
    if (!rows) nl_keep_channel(v, j, mean, var, rstd);
}

/* Waits for the moments of groups from j0 on, and finishes each group. */
NL_INLINE void nl_groups_put(nl_view v, nl_job *job, bool rows, size_t j0) {
    const float *moments = nl_job_wait(job);
    for (size_t j = j0; j < j0 + job->elements; j++, moments += job->how->width) {
        const float var = moments[v.centred ? 2 : 0] / (float)(job->ranks->total * v.s);
        nl_group_put(v, job->ranks, rows, j, v.centred ? moments[1] : 0, var);
    }
    nl_job_free(job);
}

/* Works on blocks of groups. While the moments of a block travel, this rank stores y of the block
 * before, and computes the moments of the block after. */
NL_INLINE void nl_in_blocks(nl_view v, const nl_ranks *r, bool rows, size_t groups, size_t block) {
    nl_job job[2];
    size_t before = 0, b = 0;
    for (size_t j = 0; j < groups; before = j, j += block, b = 1 - b) {
        nl_groups_start(v, r, &job[b], rows, j, groups - j < block ? groups : j + block);
        if (j) nl_groups_put(v, &job[1 - b], rows, before);
    }
    nl_groups_put(v, &job[1 - b], rows, before);
}
