/* The output of a row past the caches. SPDX-License-Identifier: MIT */
#ifndef NL_ROW_LINES_H
#define NL_ROW_LINES_H

#include "lines.h"
#include "row_output.h"

/* Elements [i, end) of a row, stored from `to` on. */
NL_INLINE void put_part(nl_view row, size_t i, size_t end, void *to, stats s, row_recipe q) {
    row.y = (char *)to - i * nl_dtype_size(row.t);
    for (; i < end; i += VLEN) {
        const size_t k = end - i < VLEN ? end - i : VLEN;
        put_x(row, i, k, load_x(row, i, k), s, q, false);
    }
}

/* Prefetches, of the next row, the step at element i. */
NL_INLINE void prefetch_next_row(nl_view row, size_t i) {
    const size_t size = nl_dtype_size(row.t), at = (row.c + i) * size;
    for (size_t byte = at; byte < at + STEP * size; byte += LINE) {
        vprefetch((const char *)row.x + byte);
        if (row.residual) vprefetch((const char *)row.residual + byte);
    }
}

NL_INLINE void put_row_in_lines(nl_view row, shared_line *line, stats s, row_recipe q) {
    const size_t size = nl_dtype_size(row.t);
    const whole_lines w = whole_lines_of(row.y, size, row.c);
    put_part(row, 0, w.begin, head_at(line, row.y, w.begin * size), s, q);
    size_t i = w.begin;
    for (; i + STEP <= w.end; i += STEP) {
        prefetch_next_row(row, i);
        put(row, i, s, q, true);
        put(row, i + VLEN, s, q, true);
        put(row, i + 2 * VLEN, s, q, true);
        put(row, i + 3 * VLEN, s, q, true);
    }
    for (; i < w.end; i += VLEN) put(row, i, s, q, true);
    put_if_whole(line);
    if (i == row.c) return;
    char *const rest = (char *)row.y + i * size;
    put_part(row, i, row.c, tail_at(line, rest, (row.c - i) * size), s, q);
}

#endif
