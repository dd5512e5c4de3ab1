/* 16-bit rows, converted once: summing a row stores its x - K as floats, and writing the row reads
 * these floats. One loop sums one row and writes another. A row is at most one block (SUM_BLOCK
 * elements) long. SPDX-License-Identifier: MIT */
#include "output.h"
#include "vec/lines.h"

/* Like accumulate(), but also stores d. */
NL_INLINE void keep(sums *s, nl_view row, float *kept, size_t i, vf m) {
    const vf d = load_x(row, i, VLEN) - m;
    vstore(NL_F32, kept, i, VLEN, d);
    s->v += d;
    s->vd = vfma(d, d, s->vd);
}

/* Like start_sums(), but also stores d. */
NL_INLINE four_sums keep_odd(nl_view row, float *kept, vf m) {
    const size_t odd = row.c % VLEN, k = row.c < VLEN ? odd : VLEN;
    four_sums t = no_four_sums();
    if (odd == 0) return t;
    vf d = load_x(row, 0, k) - m;
    vstore(NL_F32, kept, 0, k, d);
    d = vkeep(d, odd);
    t.a = (sums){d, d * d};
    return t;
}

/* Sums and stores element i and all later elements, in the order of sum_piece(). */
NL_INLINE totals keep_rest(four_sums t, nl_view row, float *kept, size_t i, vf m) {
    for (; i + STEP <= row.c; i += STEP) {
        keep(&t.a, row, kept, i, m);
        keep(&t.b, row, kept, i + VLEN, m);
        keep(&t.c, row, kept, i + 2 * VLEN, m);
        keep(&t.d, row, kept, i + 3 * VLEN, m);
    }
    for (; i < row.c; i += VLEN) keep(&t.a, row, kept, i, m);
    const sums all = all_four(t);
    return (totals){vsum(all.v), vsum(all.vd)};
}

NL_INLINE totals keep_row(nl_view row, float *kept, float guess) {
    const vf m = vset(guess);
    return keep_rest(keep_odd(row, kept, m), row, kept, row.c % VLEN, m);
}

/* y of k elements from the kept floats, from which m is already subtracted. */
NL_INLINE vf kept_y(nl_view row, const float *kept, size_t i, size_t k, stats s, row_recipe q) {
    s.m = 0;
    return y_of(row, i, k, vload(NL_F32, kept, i, k), s, q);
}

/* With a residual (RMSNorm only, so m is 0) the kept floats are x + residual: stores k of them. */
NL_INLINE void put_sum(nl_view row, const float *kept, size_t i, size_t k) {
    if (row.residual_out) vstore(row.t, row.residual_out, i, k, vload(NL_F32, kept, i, k));
}

/* Writes the vector at i, or the row's last vector if the last vector begins before i. */
NL_INLINE void put_one(nl_view row, const float *kept, size_t i, stats s, row_recipe q) {
    const size_t k = row.c < VLEN ? row.c : VLEN, at = i < row.c - k ? i : row.c - k;
    put_sum(row, kept, at, k);
    vstore(row.t, row.y, at, k, kept_y(row, kept, at, k, s, q));
}

NL_INLINE void put_pair(nl_view row, const float *kept, size_t i, stats s, row_recipe q) {
    put_sum(row, kept, i, VLEN);
    put_sum(row, kept, i + VLEN, VLEN);
    const vf a = kept_y(row, kept, i, VLEN, s, q), b = kept_y(row, kept, i + VLEN, VLEN, s, q);
    if (q.streaming)
        vstream2(row.t, row.y, i, a, b);
    else
        vstore2(row.t, row.y, i, a, b);
}

/* Writes the elements before the first pair and returns the pair's index. With streaming, the pair
 * begins at the first whole line of y; otherwise at the first vector of the sums, so that loads of
 * kept floats are aligned. */
NL_INLINE size_t put_head(nl_view row, const float *kept, stats s, row_recipe q) {
    const size_t size = nl_dtype_size(row.t), off = (uintptr_t)row.y % 64;
    size_t begin = row.c % VLEN;
    if (q.streaming) begin = off ? (64 - off) / size : 0;
    if (begin > row.c) begin = row.c;
    for (size_t i = 0; i < begin; i += VLEN) put_one(row, kept, i, s, q);
    return begin;
}

NL_INLINE void put_rest(nl_view row, const float *kept, size_t i, stats s, row_recipe q) {
    for (; i + PAIR <= row.c; i += PAIR) put_pair(row, kept, i, s, q);
    for (; i < row.c; i += VLEN) put_one(row, kept, i, s, q);
}

/* A view of the part of a row that starts at element i. */
NL_INLINE nl_view part_from(nl_view row, size_t i) {
    const size_t bytes = i * nl_dtype_size(row.t);
    row.x = (const char *)row.x + bytes, row.y = (char *)row.y + bytes, row.c -= i;
    if (row.residual) row.residual = (const char *)row.residual + bytes;
    if (row.residual_out) row.residual_out = (char *)row.residual_out + bytes;
    row.gamma += i;
    if (row.beta) row.beta += i;
    return row;
}

/* Prefetches x ahead, and this row's lines of y, which are written two rows later. Stores complete
 * in order: while a store to y waits for its line, later stores of kept floats wait, too. */
NL_INLINE void prefetch_both(nl_view row, size_t i, row_recipe q) {
    const size_t size = nl_dtype_size(row.t), end = (i + STEP) * size;
    for (size_t byte = i * size; q.prefetch_bytes && byte < end; byte += LINE) {
        vprefetch((const char *)row.x + byte + q.prefetch_bytes);
        vprefetch((const char *)row.y + byte);
    }
}

/* Writes a row from its kept floats, and in the same loop sums another row and stores its
 * floats. */
NL_INLINE totals put_and_keep(nl_view row, const float *kept, stats s, nl_view next, float *to,
                              float guess, row_recipe q) {
    const vf m = vset(guess);
    four_sums t = keep_odd(next, to, m);
    const size_t begin = put_head(row, kept, s, q), odd = row.c % VLEN;
    const nl_view out = part_from(row, begin), in = part_from(next, odd);
    const size_t end = (begin > odd ? out.c : in.c) / STEP * STEP;
    for (size_t i = 0; i < end; i += STEP) {
        prefetch_both(in, i, q);
        keep(&t.a, in, to + odd, i, m);
        keep(&t.b, in, to + odd, i + VLEN, m);
        put_pair(out, kept + begin, i, s, q);
        keep(&t.c, in, to + odd, i + 2 * VLEN, m);
        keep(&t.d, in, to + odd, i + 3 * VLEN, m);
        put_pair(out, kept + begin, i + PAIR, s, q);
    }
    put_rest(row, kept, begin + end, s, q);
    return keep_rest(t, next, to, odd + end, m);
}

/* Stores x - m of row r again, with another mean m. Rare. */
NL_COLD void keep_again(const nl_view *v, size_t r, float *kept, float m) {
    keep_row(nl_row(*v, r), kept, m);
}

NL_INLINE stats kept_stats(const nl_view *v, size_t r, double per_c, float *kept, float guess,
                           totals t, row_recipe q) {
    const stats s = stats_from(v, r, per_c, guess, t, q);
    if (q.centred && !s.in_double && s.m != guess) keep_again(v, r, kept, s.m);
    return s;
}

/* The padding is a cache line, to align vectors, and a third of a page, to separate the low 12
 * address bits of adjacent rows: a load waits for an earlier store with the same low 12 bits. */
typedef float kept_row[KEPT + 16 + 1024 / 3 / 16 * 16] __attribute__((aligned(64)));

/* While row r is summed and stored as floats, row r - 2 is written, and row r - 1's statistics and
 * row r + 1's guess are computed. Both are chains of dependent operations, which take as long as
 * twenty vectors. */
NL_INLINE void all_rows(nl_view v, row_recipe q) {
    assume(q.statistics == CERTIFIED);
    const nl_view whole = v;
    const double per_c = 1 / (double)v.c;
    /* The caller's arrays often begin at a page; these arrays begin 1/8 page after one. */
    struct {
        float before[128];
        kept_row space[3], gamma, beta;
    } own __attribute__((aligned(4096)));
    const size_t shift = v.c % VLEN ? VLEN - v.c % VLEN : 0; /* aligns the sums' vectors */
    if (shift && v.n > 2 && !q.streaming) {
        v.gamma = memcpy(own.gamma + shift, v.gamma, v.c * sizeof *own.gamma);
        if (v.beta) v.beta = memcpy(own.beta + shift, v.beta, v.c * sizeof *own.beta);
    }
    float *from = own.space[0] + shift, *summed = own.space[1] + shift, *to = own.space[2] + shift;
    float guess = 0, next_guess = guess_mean(nl_row(v, 0), per_c, q);
    stats s = {0};
    totals t = {0, 0};
    for (size_t r = 0; r < v.n + 2; r++) {
        const bool puts = r >= 2, keeps = r < v.n;
        const nl_view row = nl_row(v, puts ? r - 2 : 0), next = nl_row(v, keeps ? r : 0);
        const stats now = s;
        if (r >= 1 && r <= v.n) s = kept_stats(&whole, r - 1, per_c, summed, guess, t, q);
        guess = next_guess;
        if (r + 1 < v.n) next_guess = guess_mean(nl_row(v, r + 1), per_c, q);
        if (puts && now.in_double)
            in_double(&whole, r - 2, q.centred);
        else if (puts)
            nl_keep(row, now.m + now.c, now.rstd);
        if (puts && keeps && !now.in_double) {
            t = put_and_keep(row, from, now, next, to, guess, q);
        } else {
            if (puts && !now.in_double) put_rest(row, from, put_head(row, from, now, q), now, q);
            if (keeps) t = keep_row(next, to, guess);
        }
        float *const written = from;
        from = summed, summed = to, to = written;
    }
    if (q.streaming) vfence();
}

/* The common case, as in instances.h. */
NL_INLINE void common_rows(const rows_call *call, nl_dtype t, bool centred, bool plus_one,
                           bool cast) {
    row_recipe q = *call->q;
    nl_view v = nl_view_of(call->p, call->a);
    if (!centred) v.beta = NULL;
    take_steps(&v);
    v.t = t, v.plus_one = plus_one, v.residual = v.residual_out = NULL;
    v.cast_before_weight = cast, q.centred = centred;
    all_rows(v, q);
}

static void layernorm_f16(const rows_call *call) {
    common_rows(call, NL_F16, true, false, false);
}
static void layernorm_bf16(const rows_call *call) {
    common_rows(call, NL_BF16, true, false, false);
}
static void rmsnorm_f16(const rows_call *call) {
    common_rows(call, NL_F16, false, false, false);
}
static void rmsnorm_bf16(const rows_call *call) {
    common_rows(call, NL_BF16, false, false, false);
}
static void plus_one_f16(const rows_call *call) {
    common_rows(call, NL_F16, false, true, false);
}
static void plus_one_bf16(const rows_call *call) {
    common_rows(call, NL_BF16, false, true, false);
}
static void cast_f16(const rows_call *call) {
    common_rows(call, NL_F16, false, false, true);
}
static void cast_bf16(const rows_call *call) {
    common_rows(call, NL_BF16, false, false, true);
}

/* RMSNorm with a residual; rows may have any strides. */
NL_INLINE void residual_rows(const rows_call *call, nl_dtype t, bool cast) {
    row_recipe q = *call->q;
    nl_view v = nl_view_of(call->p, call->a);
    assume(v.residual);
    v.t = t, v.beta = NULL, v.cast_before_weight = cast, v.plus_one = q.centred = false;
    all_rows(v, q);
}

static void residual_f16(const rows_call *call) {
    residual_rows(call, NL_F16, false);
}
static void residual_bf16(const rows_call *call) {
    residual_rows(call, NL_BF16, false);
}
static void residual_cast_f16(const rows_call *call) {
    residual_rows(call, NL_F16, true);
}
static void residual_cast_bf16(const rows_call *call) {
    residual_rows(call, NL_BF16, true);
}

void rows_kept_forward(const nl_problem *p, const nl_forward_args *a, const row_recipe *q) {
    const bool half = p->dtype == NL_F16, centred = nl_layers[p->op].centred, cast = casts(p);
    const bool plus_one = nl_layers[p->op].plus_one;
    const rows_call call = {p, a, q};
    const nl_view v = nl_view_of(p, a);
    if (q->streaming && rows_share(&v, 32)) /* only rows_forward() collects shared lines */
        rows_forward(p, a, q);
    else if (lacks_parameters(p, a))
        with_parameters(rows_kept_forward, p, a, q);
    else if (a->residual && a->gamma && !a->beta && !centred && !plus_one && cast)
        (half ? residual_cast_f16 : residual_cast_bf16)(&call);
    else if (a->residual && a->gamma && !a->beta && !centred && !plus_one)
        (half ? residual_f16 : residual_bf16)(&call);
    else if (!a->gamma || a->residual || centred != !!a->beta || (cast && (centred || plus_one)))
        rows_forward(p, a, q);
    else if (centred)
        run_common(half ? layernorm_f16 : layernorm_bf16, &call);
    else if (plus_one)
        run_common(half ? plus_one_f16 : plus_one_bf16, &call);
    else if (cast)
        run_common(half ? cast_f16 : cast_bf16, &call);
    else
        run_common(half ? rmsnorm_f16 : rmsnorm_bf16, &call);
}
