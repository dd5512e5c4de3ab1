/* idea   Rows are independent: each thread gets a run of them. If there are fewer rows than
 *        threads, threads share each row, in pieces of 4096 elements: each piece has its own sum,
 *        and one thread adds the sums from first to last. So the order of all additions depends on
 *        c alone, and the bits do not depend on the number of threads.
 * gain   A factor of up to the number of threads if the data are in caches; less from memory.
 * fails  Waking threads takes microseconds: 16384 elements or fewer get one thread.
 * SPDX-License-Identifier: MIT */
#include "parallel.h"
#include "vec/vec.h"

enum { PIECE = 4096, FORK = 16384 };

typedef struct job {
    nl_view v; /* all rows, or one shared row */
    float *sums, rstd;
} job;

/* Elements i to i + k - 1 of x, with the residual added; zero in the other lanes. */
NL_INLINE vf load_x(nl_view row, size_t i, size_t k) {
    vf x = vload(row.t, row.x, i, k);
    if (!row.residual) return x;
    x += vload(row.t, row.residual, i, k);
    return row.rounds_sum ? vround(row.t, x) : x;
}

/* The sum of the squares of the elements from begin to end - 1, in four vectors. */
NL_INLINE float sum_piece(nl_view row, size_t begin, size_t end) {
    vf a = vset(0), b = a, c = a, d = a;
    size_t i = begin;
    for (; i + 4 * VLEN <= end; i += 4 * VLEN) {
        const vf p = load_x(row, i, VLEN), q = load_x(row, i + VLEN, VLEN);
        const vf r = load_x(row, i + 2 * VLEN, VLEN), s = load_x(row, i + 3 * VLEN, VLEN);
        a += p * p, b += q * q, c += r * r, d += s * s;
    }
    for (; i < end; i += VLEN) {
        const vf p = load_x(row, i, end - i < VLEN ? end - i : VLEN);
        a += p * p;
    }
    return vsum(a + b + (c + d));
}

NL_INLINE size_t end_of(size_t piece, size_t c) {
    return c - piece * PIECE < PIECE ? c : (piece + 1) * PIECE;
}

NL_INLINE float sum_row(nl_view row) {
    float sum = 0;
    for (size_t i = 0; i * PIECE < row.c; i++) sum += sum_piece(row, i * PIECE, end_of(i, row.c));
    return sum;
}

NL_INLINE void put(nl_view row, float rstd, size_t i, size_t k) {
    const vf x = load_x(row, i, k);
    vf xhat = x * vset(rstd);
    if (row.residual_out) vstore(row.t, row.residual_out, i, k, x);
    if (row.cast_before_weight) xhat = vround(row.t, xhat);
    vstore(row.t, row.y, i, k, xhat * vgain(row.gamma, row.plus_one, i, k));
}

/* Writes the elements from begin to end - 1 of y. The constant VLEN is faster than a variable k. */
NL_INLINE void put_piece(nl_view row, float rstd, size_t begin, size_t end) {
    size_t i = begin;
    for (; i + VLEN <= end; i += VLEN) put(row, rstd, i, VLEN);
    if (i < end) put(row, rstd, i, end - i);
}

NL_INLINE float rstd_of(nl_view v, float sum) {
    return 1 / sqrtf(sum / (float)v.c + v.eps);
}

NL_INLINE void rows(nl_view v) {
    for (size_t r = 0; r < v.n; r++) {
        nl_view row = nl_row(v, r);
        const float rstd = rstd_of(v, sum_row(row));
        put_piece(row, rstd, 0, v.c);
        nl_keep(row, 0, rstd);
    }
}

/* Makes the storage type a constant; in a job it is a variable. */
NL_INLINE void typed_rows(nl_dtype t, const void *context) {
    nl_view v = *(const nl_view *)context;
    v.t = t;
    rows(v);
}

typedef struct piece {
    const job *j;
    size_t i;
} piece;

NL_INLINE void typed_sum(nl_dtype t, const void *context) {
    const piece *p = context;
    nl_view row = p->j->v;
    row.t = t;
    p->j->sums[p->i] = sum_piece(row, p->i * PIECE, end_of(p->i, row.c));
}

NL_INLINE void typed_put(nl_dtype t, const void *context) {
    const piece *p = context;
    nl_view row = p->j->v;
    row.t = t;
    put_piece(row, p->j->rstd, p->i * PIECE, end_of(p->i, row.c));
}

static void some_rows(void *context, size_t begin, size_t end) {
    const job *j = context;
    nl_view v = nl_row(j->v, begin);
    v.n = end - begin;
    nl_with_dtype(v.t, typed_rows, &v);
}

static void some_sums(void *context, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++)
        nl_with_dtype(((job *)context)->v.t, typed_sum, &(piece){context, i});
}

static void some_output(void *context, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++)
        nl_with_dtype(((job *)context)->v.t, typed_put, &(piece){context, i});
}

static size_t pieces_of(size_t c) {
    return (c + PIECE - 1) / PIECE;
}

static void share_row(job *j, int threads) {
    const size_t pieces = pieces_of(j->v.c);
    float sum = 0;
    nl_parallel_for(pieces, threads, some_sums, j);
    for (size_t i = 0; i < pieces; i++) sum += j->sums[i];
    j->rstd = rstd_of(j->v, sum);
    nl_parallel_for(pieces, threads, some_output, j);
    nl_keep(j->v, 0, j->rstd);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    const nl_view all = nl_view_of(p, a);
    job j = {.v = all, .sums = a->scratch};
    if (p->n * p->c <= FORK) threads = 1;
    if (p->n >= (size_t)threads) {
        nl_parallel_for(p->n, threads, some_rows, &j);
        return;
    }
    for (size_t r = 0; r < p->n; r++) j.v = nl_row(all, r), share_row(&j, threads);
}

static size_t scratch(const nl_problem *p) {
    return pieces_of(p->c) * sizeof(float);
}

NL_IMPL(.about = "rows among threads, long rows in pieces of fixed size", .ops = NL_BIT(NL_RMSNORM),
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .threaded = true,
        .method = NL_TWO_PASS, .lanes = 4 * VLEN, .forward = forward, .scratch = scratch);
