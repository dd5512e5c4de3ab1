/* The loop over all rows whose y is stored past the caches, in whole lines.
 * SPDX-License-Identifier: MIT */
#include "output.h"
#include "vec/lines.h"

/* Data for the ends of rows: the line that two rows share, and the last elements of gamma and beta,
 * padded by a vector. Without the padding, a masked load may reach into an unmapped page; the load
 * is correct, but takes as long as hundreds of loads. */
enum { LAST = LINE / 2 };

typedef struct row_ends {
    shared_line line;
    size_t from;
    float gamma[LAST + VLEN], beta[LAST + VLEN];
} row_ends;

NL_INLINE row_ends row_ends_of(nl_view v) {
    row_ends ends = {.line.held = 0, .from = v.c < LAST ? 0 : v.c - LAST};
    for (size_t i = ends.from; i < v.c; i++) {
        if (v.gamma) ends.gamma[i - ends.from] = v.gamma[i];
        if (v.beta) ends.beta[i - ends.from] = v.beta[i];
    }
    return ends;
}

/* Stores y of elements [i, end), starting at `to`. */
NL_INLINE void put_part(nl_view row, size_t i, size_t end, void *to, stats s, row_recipe q) {
    row.y = (char *)to - i * nl_dtype_size(row.t);
    for (; i < end; i += VLEN) {
        const size_t k = end - i < VLEN ? end - i : VLEN;
        put_x(row, i, k, load_x(row, i, k), s, q, false);
    }
}

/* Stores y before and after a row's whole lines. */
NL_INLINE void put_ends(nl_view row, row_ends *ends, stats s, row_recipe q) {
    const size_t size = nl_dtype_size(row.t);
    const whole_lines w = whole_lines_of(row.y, size, row.c);
    put_part(row, 0, w.begin, head_at(&ends->line, row.y, w.begin * size), s, q);
    put_if_whole(&ends->line);
    const size_t bytes = w.end * size, count = row.c - w.end;
    if (count == 0) return;
    row.x = (const char *)row.x + bytes, row.y = (char *)row.y + bytes;
    if (row.residual) row.residual = (const char *)row.residual + bytes;
    if (row.residual_out) row.residual_out = (char *)row.residual_out + bytes;
    if (row.gamma) row.gamma = ends->gamma + (w.end - ends->from);
    if (row.beta) row.beta = ends->beta + (w.end - ends->from);
    put_part(row, 0, count, tail_at(&ends->line, row.y, count * size), s, q);
}

/* Prefetches the step at element i of a row. */
NL_INLINE void prefetch_step_of(nl_view row, size_t i) {
    const size_t size = nl_dtype_size(row.t), at = i * size;
    for (size_t byte = at; byte < at + STEP * size; byte += LINE) {
        vprefetch((const char *)row.x + byte);
        if (row.residual) vprefetch((const char *)row.residual + byte);
    }
}

/* Streams y of elements [i, end), which are whole lines; prefetches the next row if `ahead`. */
NL_INLINE void put_lines(nl_view row, nl_view next, size_t i, size_t end, stats s, row_recipe q,
                         bool ahead) {
    for (; i + STEP <= end; i += STEP) {
        if (ahead) prefetch_step_of(next, i);
        put(row, i, s, q, true);
        put(row, i + VLEN, s, q, true);
        put(row, i + 2 * VLEN, s, q, true);
        put(row, i + 3 * VLEN, s, q, true);
    }
    for (; i < end; i += VLEN) put(row, i, s, q, true);
}

/* Rows are wide if two rows, gamma and beta take more than 5/4 of the first-level cache. Loads then
 * miss this cache, and prefetching from memory would delay the loads. So a few rows are read, then
 * written by blocks of columns without prefetching: gamma and beta stay cached between rows. */
enum { TOGETHER = 4, COLUMNS = 512, WIDEST = TOGETHER * PIECE };

static size_t rows_together(const nl_view *v) {
    const size_t bytes = 2 * nl_dtype_size(v->t) + (v->centred ? 2 : 1) * sizeof(float);
    if (v->c <= v->first_cache * 5 / 4 / bytes || v->c > WIDEST) return 1;
    return WIDEST / v->c < TOGETHER ? WIDEST / v->c : TOGETHER;
}

typedef struct row_group {
    size_t rows, r[TOGETHER];
    stats s[TOGETHER];
} row_group;

NL_INLINE void put_group(nl_view v, const row_group *g, size_t columns, row_recipe q) {
    for (size_t i = 0; i < v.c; i += columns)
        for (size_t a = 0; a < g->rows; a++) {
            const nl_view row = nl_row(v, g->r[a]), next = nl_row(v, g->r[a] + 1);
            const whole_lines w = whole_lines_of(row.y, nl_dtype_size(v.t), row.c);
            const size_t begin = w.begin + i, end = begin + columns;
            put_lines(row, next, begin, end < w.end ? end : w.end, g->s[a], q, columns == v.c);
        }
}

NL_INLINE void all_rows(nl_view v, row_recipe q) {
    assume(q.statistics == CERTIFIED);
    const nl_view whole = v;
    const double per_c = 1 / (double)v.c;
    const size_t together = rows_together(&whole), columns = together > 1 ? COLUMNS : v.c;
    const bool whole_rows = !rows_share(&v, LINE);
    row_ends ends = row_ends_of(v);
    for (size_t r = 0; r < v.n;) {
        row_group g = {.rows = 0};
        for (; r < v.n && g.rows < together; r++) {
            const stats s = row_stats(&whole, r, per_c, q);
            if (s.in_double) {
                in_double(&whole, r, q.centred);
                continue;
            }
            nl_keep(nl_row(v, r), s.m + s.c, s.rstd);
            g.r[g.rows] = r, g.s[g.rows++] = s;
        }
        put_group(v, &g, columns, q);
        for (size_t a = 0; !whole_rows && a < g.rows; a++)
            put_ends(nl_row(v, g.r[a]), &ends, g.s[a], q);
    }
    put_waiting(&ends.line);
    vfence();
}

#include "instances.h"

void rows_streamed(const nl_problem *p, const nl_forward_args *a, const row_recipe *q) {
    run_rows(p, a, q);
}

/* One function for all types, because only threads that share a row call it. */
void row_streamed(const nl_view *v, const stats *s) {
    const row_recipe q = {.centred = true, .statistics = CERTIFIED};
    const whole_lines w = whole_lines_of(v->y, nl_dtype_size(v->t), v->c);
    row_ends ends = row_ends_of(*v);
    put_lines(*v, *v, w.begin, w.end, *s, q, false);
    put_ends(*v, &ends, *s, q);
    put_waiting(&ends.line);
    vfence();
}
