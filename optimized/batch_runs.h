/* Channels whose values are contiguous, s at a time. SPDX-License-Identifier: MIT */
#ifndef NL_BATCH_RUNS_H
#define NL_BATCH_RUNS_H

#include "batch_output.h"

/* Adds the k first of the VLEN elements from `at` on. */
NL_INLINE void accumulate(vf *d, vf *squares, work w, nl_dtype t, size_t at, size_t k, vf m,
                          batch_recipe q) {
    const size_t readable = k == VLEN ? VLEN : readable_lanes(w, at);
    vf e = vkeep(vload(t, w.v.x, at, readable) - m, k);
    vf g = q.backward ? vkeep(vload(t, w.dy, at, readable), k) : e;
    *d += g;
    *squares = vfma(e, g, *squares);
}

/* Adds to *d and *squares the sums over `count` elements from `at` on. */
NL_INLINE void sum_span(work w, nl_dtype t, size_t at, size_t count, float around, double *d,
                        double *squares, batch_recipe q) {
    const vf m = vset(around), zero = vset(0);
    vf d_before = zero, s_before = zero;
    const size_t end = at + count;
    for (size_t i = at; i < end;) {
        vf d0 = zero, d1 = d0, d2 = d0, d3 = d0, s0 = d0, s1 = d0, s2 = d0, s3 = d0;
        const size_t stop = block_end(i, end);
        for (; i + 4 * VLEN <= stop; i += 4 * VLEN) {
            accumulate(&d0, &s0, w, t, i, VLEN, m, q);
            accumulate(&d1, &s1, w, t, i + VLEN, VLEN, m, q);
            accumulate(&d2, &s2, w, t, i + 2 * VLEN, VLEN, m, q);
            accumulate(&d3, &s3, w, t, i + 3 * VLEN, VLEN, m, q);
        }
        for (; i + VLEN <= stop; i += VLEN) accumulate(&d0, &s0, w, t, i, VLEN, m, q);
        if (i < stop) accumulate(&d1, &s1, w, t, i, stop - i, m, q), i = stop;
        d_before += (d0 + d1) + (d2 + d3), s_before += (s0 + s1) + (s2 + s3);
    }
    *d += vsum(d_before), *squares += vsum(s_before);
}

NL_INLINE void sum_runs(work w, nl_dtype t, size_t row, size_t end, size_t begin, size_t j_end,
                        float *sums, batch_recipe q) {
    double *d = (double *)sums, *squares = d + w.padded;
    for (size_t j = begin; j < j_end; j++) d[j] = squares[j] = 0;
    for (; row < end; row++)
        for (size_t j = begin; j < j_end; j++)
            for (size_t k = 0; k < w.v.s; k += RUN)
                sum_span(w, t, nl_at(w.v, row, j, k), least(RUN, w.v.s - k), w.m[j], &d[j],
                         &squares[j], q);
}

NL_INLINE void put_runs(work w, nl_dtype t, bool cast, size_t row, size_t end, size_t begin,
                        size_t j_end, batch_recipe q) {
    shared_line line = {.held = 0};
    for (size_t i = 0; i < end - row; i++)
        for (size_t k = 0; k < j_end - begin; k++) {
            const size_t j = q.reverse ? j_end - 1 - k : begin + k;
            const size_t at = nl_at(w.v, q.reverse ? end - 1 - i : row + i, j, 0);
            coefficients p = {.held = true,
                              .m = vset(w.m[j]),
                              .a = vset(w.a[j]),
                              .b = vset(w.b[j])};
            if (cast || q.backward) p.gain = vset(w.gain[j]);
            if (cast) p.bias = vset(w.bias[j]);
            put_span(w, t, cast, p, at, 0, w.v.s, 0, &line, q);
        }
    put_waiting(&line);
}

#endif
