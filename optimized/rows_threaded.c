/* idea   Rows are independent: each thread gets a piece of them and does what one thread would have
 *        done (registers, pipelined or streaming, by size). Where there are fewer rows than threads,
 *        long ones are shared, in the pieces in which any rung here sums them.
 * gain   As many cores, as many times the cache bandwidth; memory takes fewer to be full.
 * fails  Waking threads takes microseconds: small problems are done by the caller alone.
 * SPDX-License-Identifier: MIT */
#include "parallel.h"
#include "rows.h"
#include "tuning.h"

NL_DECLARE(optimized_rows_pipelined);
NL_DECLARE(optimized_rows_registers);
NL_DECLARE(optimized_rows_streaming);

typedef struct job {
    const nl_problem *p;
    const nl_forward_args *a;
    const nl_impl *each; /* what a thread does with its rows */
    nl_view row;         /* the row that is shared, */
    bool streams;
    float m;
    pair *sums; /* of its pieces around m, */
    stats s;    /* and what comes of them */
} job;

static void some_rows(void *context, size_t begin, size_t end) {
    const job *j = context;
    const nl_view v = nl_row(nl_view_of(j->p, j->a), begin);
    nl_problem p = *j->p;
    nl_forward_args a = *j->a;
    p.n = end - begin;
    a.x = v.x, a.y = v.y, a.mean = v.mean, a.rstd = v.rstd;
    a.residual = v.residual, a.residual_out = v.residual_out;
    j->each->forward(&p, &a, 1);
}

/* Pieces [begin, end) of the shared row, as a row of its own. */
static nl_view piece_of(const job *j, size_t begin, size_t end) {
    nl_view part = j->row;
    const size_t from = begin * PIECE, to = end * PIECE < part.c ? end * PIECE : part.c;
    const size_t bytes = from * nl_dtype_bytes(part.t);
    part.c = to - from;
    part.x = (const char *)part.x + bytes, part.y = (char *)part.y + bytes;
    if (part.residual) part.residual = (const char *)part.residual + bytes;
    if (part.residual_out) part.residual_out = (char *)part.residual_out + bytes;
    if (part.gamma) part.gamma += from;
    if (part.beta) part.beta += from;
    return part;
}

static const recipe how = {.centred = true, .how = CERTIFIED};

static void some_sums(void *context, size_t begin, size_t end) {
    const job *j = context;
    for (size_t i = begin; i < end; i++) {
        const nl_view part = piece_of(j, i, i + 1);
        j->sums[i] = sum_piece(part, 0, part.c, j->m, how);
    }
}

static void some_output(void *context, size_t begin, size_t end) {
    const job *j = context;
    recipe q = how;
    q.streaming = j->streams;
    row_output(piece_of(j, begin, end), j->s, q);
    if (j->streams) vfence();
}

static size_t pieces_of(size_t c) {
    return (c + PIECE - 1) / PIECE;
}

/* Adds up as sum_row does. */
static pair sum_shared(job *j, float m, int threads) {
    pair all = {0, 0};
    j->m = m;
    nl_parallel_for(pieces_of(j->row.c), threads, some_sums, j);
    for (size_t i = 0; i < pieces_of(j->row.c); i++)
        all.d += j->sums[i].d, all.squares += j->sums[i].squares;
    return all;
}

static void share_row(job *j, bool centred, int threads) {
    const double per = 1 / (double)j->row.c;
    recipe q = how;
    q.centred = centred;
    const float m = first_guess(j->row, per, q);
    pair s = sum_shared(j, m, threads);
    if (centred && !out_of_range(j->row, s) && !trusted(per, s)) {
        const float mean = m + (float)(s.d * per);
        j->s = from_sums(j->row, per, mean, sum_shared(j, mean, threads));
    } else {
        j->s = row_stats_from(&j->row, 0, per, m, s, q);
    }
    if (j->s.in_double) {
        in_double(&j->row, 0, centred);
        return;
    }
    nl_keep(j->row, j->s.m + j->s.c, j->s.rstd);
    nl_parallel_for(pieces_of(j->row.c), threads, some_output, j);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    job j = {.p = p, .a = a, .sums = a->scratch};
    j.each = NL_OTHER(optimized_rows_registers); /* or pipelined, where a row is too long for it */
    j.streams = nl_streams(p, threads);
    if (j.streams) j.each = NL_OTHER(optimized_rows_streaming);
    if (!nl_forks(p, threads)) {
        j.each->forward(p, a, 1);
    } else if (p->n < (size_t)threads && p->c > PIECE) {
        for (size_t r = 0; r < p->n; r++) {
            j.row = nl_row(nl_view_of(p, a), r);
            share_row(&j, p->op == NL_LAYERNORM, threads);
        }
    } else {
        nl_parallel_for(p->n, threads, some_rows, &j);
    }
}

static size_t scratch(const nl_problem *p) {
    return p->c > PIECE ? pieces_of(p->c) * sizeof(pair) : 0;
}

NL_IMPL(.about = "rows among threads, long rows in pieces", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_ALL_DTYPES, .rank = 5, .threaded = true,
        .range_safe = true, .method = NL_REFINED, .lanes = VLEN, .forward = forward,
        .scratch = scratch);
