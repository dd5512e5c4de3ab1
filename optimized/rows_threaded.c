/* idea   Rows are independent: each thread gets a run of rows, and processes it with the rung that
 *        nl_best() would choose on one thread. If there are fewer rows than threads, all threads
 *        share each long row; every optimized rung sums a row in the same pieces.
 * gain   Uses the cache bandwidth of all cores. A few cores saturate memory bandwidth.
 * fails  Waking threads takes microseconds: small problems get one thread.
 * SPDX-License-Identifier: MIT */
#include "parallel.h"
#include "rows/output.h"

typedef struct job {
    const nl_problem *p;
    const nl_forward_args *a;
    nl_view row; /* the row that threads share */
    row_recipe q;
    float m;
    totals *sums; /* sums of the row's pieces, around m */
    stats s;
} job;

static void some_rows(void *context, size_t begin, size_t end) {
    const job *j = context;
    nl_problem p = *j->p;
    nl_forward_args a = *j->a;
    nl_plan plan;
    nl_skip_rows(&p, &a, &plan, begin);
    p.n = end - begin;
    plan.each->forward(&p, &a, 1);
}

/* A view of pieces [begin, end) of the shared row. */
static nl_view piece_of(const job *j, size_t begin, size_t end) {
    nl_view part = j->row;
    const size_t from = begin * PIECE, to = end * PIECE < part.c ? end * PIECE : part.c;
    const size_t bytes = from * nl_dtype_size(part.t);
    part.c = to - from;
    part.x = (const char *)part.x + bytes, part.y = (char *)part.y + bytes;
    if (part.residual) part.residual = (const char *)part.residual + bytes;
    if (part.residual_out) part.residual_out = (char *)part.residual_out + bytes;
    if (part.gamma) part.gamma += from;
    if (part.beta) part.beta += from;
    return part;
}

static void some_sums(void *context, size_t begin, size_t end) {
    const job *j = context;
    for (size_t i = begin; i < end; i++) {
        const nl_view part = piece_of(j, i, i + 1);
        j->sums[i] = sum_piece(part, 0, part.c, j->m, (row_recipe){.statistics = CERTIFIED});
    }
}

/* centred is true for all layers: without a mean, m and shift are 0 and change no bit. */
static void some_output(void *context, size_t begin, size_t end) {
    const job *j = context;
    const nl_view part = piece_of(j, begin, end);
    const row_recipe q = {.centred = true, .statistics = CERTIFIED};
    if (j->a->plan->each->streams)
        row_streamed(&part, &j->s);
    else
        put_row(part, j->s, q);
}

static size_t pieces_of(size_t c) {
    return (c + PIECE - 1) / PIECE;
}

/* Sums the shared row, adding its pieces in the order of sum_row(). */
static totals sum_shared(job *j, float m, int threads) {
    totals all = {0, 0};
    j->m = m;
    nl_parallel_for(pieces_of(j->row.c), threads, some_sums, j);
    for (size_t i = 0; i < pieces_of(j->row.c); i++)
        all.d += j->sums[i].d, all.squares += j->sums[i].squares;
    return all;
}

static void share_row(job *j, int threads) {
    const double per_c = 1 / (double)j->row.c;
    const row_recipe q = {.centred = j->row.centred, .statistics = CERTIFIED};
    const float m = guess_mean(j->row, per_c, q);
    totals s = sum_shared(j, m, threads);
    if (q.centred && !out_of_range(j->row, s) && !is_certain(per_c, s)) {
        const float mean = m + (float)(s.d * per_c);
        j->s = from_sums(j->row, per_c, mean, sum_shared(j, mean, threads));
    } else {
        j->s = stats_from(&j->row, 0, per_c, m, s, q);
    }
    if (j->s.in_double) {
        in_double(&j->row, 0, q.centred);
        return;
    }
    nl_keep(j->row, j->s.m + j->s.c, j->s.rstd);
    nl_parallel_for(pieces_of(j->row.c), threads, some_output, j);
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    job j = {.p = p, .a = a, .sums = a->scratch};
    if (!a->plan->pieces) {
        nl_parallel_for(p->n, threads, some_rows, &j);
        return;
    }
    for (size_t r = 0; r < p->n; r++) {
        j.row = nl_row(nl_view_of(p, a), r);
        share_row(&j, threads);
    }
}

static size_t scratch(const nl_problem *p) {
    return p->c > PIECE ? pieces_of(p->c) * sizeof(totals) : 0;
}

NL_IMPL(.about = "rows among threads, long rows in pieces", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_FORWARD), .dtypes = NL_VEC_DTYPES, .thresholds = row_thresholds,
        .threaded = true, .range_safe = true, .heeds_stores = true, .strided = true,
        .method = NL_REFINED, .lanes = VLEN, .forward = forward, .scratch = scratch);
