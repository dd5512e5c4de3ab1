/* LayerNorm, RMSNorm and Qwen2RMSNorm in vector words, one row after the other. A rung is a recipe:
 * the functions here are inlined into it with the recipe as constants, so what it does not use is
 * not there, and the three layers are compared at equal engineering.
 * SPDX-License-Identifier: MIT */
#ifndef NL_ROWS_H
#define NL_ROWS_H

#include "vec.h"

#include <float.h>

/* What few rows need is kept out of the loops of the others. */
#define NL_COLD static __attribute__((noinline, cold, unused))

typedef struct recipe {
    bool centred;                                       /* LayerNorm */
    enum { TWO_PASS, REFINED, SHIFTED, CERTIFIED } how; /* the statistics */
    bool one_sum;                                       /* one vector each sum, not four */
    bool pipelined; /* the next row's statistics inside this row's output */
    bool streaming; /* y past the caches, and the next row asked for */
    bool by_type;   /* what is not the usual case gets code of its own for each type as well */
    size_t ahead;   /* bytes of x to prefetch, 0: none */
} recipe;

/* xhat = (x - m) * rstd - shift, and the mean is m + c; or nothing float is right for the row, and
 * it is done in double. */
typedef struct stats {
    float m, c, rstd, shift;
    bool in_double;
} stats;

/* Long rows are summed in pieces of this many elements, the pieces' sums in double: rounding stays
 * that of a short row, and threads can share a row without changing a bit. */
enum { PIECE = 16384, STEP = 4 * VLEN };

/* Four vectors of each sum, by name: an array of them compilers would keep in memory. */
typedef struct sums {
    vf d0, d1, d2, d3, squares0, squares1, squares2, squares3;
} sums;

typedef struct pair {
    double d, squares;
} pair;

NL_INLINE vf row_x(nl_view row, size_t i, size_t k) {
    vf x = vload(row.t, row.x, i, k);
    if (row.residual) x += vload(row.t, row.residual, i, k);
    return x;
}

/* Adds the k first of the VLEN elements from i on, which are all there. */
NL_INLINE void add_to(vf *sum, vf *squares, nl_view row, size_t i, size_t k, vf m) {
    vf d = vkeep(row_x(row, i, VLEN) - m, k);
    *sum += d;
    *squares = vfma(d, d, *squares);
}

/* Begins the sums over [begin, end) with the odd elements, so that whole vectors remain: from the
 * index returned. A load is masked only where there is no whole vector. */
NL_INLINE size_t first_sums(sums *s, nl_view row, size_t begin, size_t end, vf m) {
    const size_t odd = (end - begin) % VLEN;
    s->d0 = s->d1 = s->d2 = s->d3 = vset(0);
    s->squares0 = s->squares1 = s->squares2 = s->squares3 = vset(0);
    if (end - begin >= VLEN) {
        if (odd) add_to(&s->d0, &s->squares0, row, begin, odd, m);
    } else {
        vf d = vkeep(row_x(row, begin, odd) - m, odd);
        s->d0 = d, s->squares0 = d * d;
    }
    return begin + odd;
}

/* The last vectors, and then all lanes into one number. */
NL_INLINE pair last_sums(sums *s, nl_view row, size_t i, size_t end, vf m) {
    for (; i < end; i += VLEN) add_to(&s->d0, &s->squares0, row, i, VLEN, m);
    return (pair){vsum((s->d0 + s->d2) + (s->d1 + s->d3)),
                  vsum((s->squares0 + s->squares2) + (s->squares1 + s->squares3))};
}

/* Asks for a part of the next row, `quarters` of it from quarter `from` on: at element i of this row
 * for the share that belongs to a step there. */
NL_INLINE void ask_for_next(nl_view row, size_t i, size_t from, size_t quarters) {
    const size_t size = row.t == NL_F32 ? 4 : 2, step = STEP * size * quarters / 4;
    const size_t at = (row.c + from * row.c / 4 + i * quarters / 4) * size;
    for (size_t byte = at; byte < at + step; byte += 64) {
        vprefetch((const char *)row.x + byte);
        if (row.residual) vprefetch((const char *)row.residual + byte);
    }
}

/* The sums of d = x - m and of d^2 over elements [begin, end). */
NL_INLINE pair sum_piece(nl_view row, size_t begin, size_t end, float m, recipe q) {
    const vf shift = vset(m);
    sums s;
    size_t i = first_sums(&s, row, begin, end, shift);
    for (; !q.one_sum && i + STEP <= end; i += STEP) {
        if (q.streaming) ask_for_next(row, i, 0, 1);
        add_to(&s.d0, &s.squares0, row, i, VLEN, shift);
        add_to(&s.d1, &s.squares1, row, i + VLEN, VLEN, shift);
        add_to(&s.d2, &s.squares2, row, i + 2 * VLEN, VLEN, shift);
        add_to(&s.d3, &s.squares3, row, i + 3 * VLEN, VLEN, shift);
    }
    return last_sums(&s, row, i, end, shift);
}

NL_INLINE pair sum_row(nl_view row, float m, recipe q) {
    if (row.c <= PIECE) return sum_piece(row, 0, row.c, m, q);
    pair all = {0, 0};
    for (size_t i = 0; i < row.c; i += PIECE) {
        pair p = sum_piece(row, i, row.c - i < PIECE ? row.c : i + PIECE, m, q);
        all.d += p.d, all.squares += p.squares;
    }
    return all;
}

/* Around what to sum in the only reading: near the mean, unless the row begins with an outlier. */
NL_INLINE float first_guess(nl_view row, double per, recipe q) {
    if (!q.centred) return 0;
    const size_t n = row.c < 16 ? row.c : 16;
    vf sum = vset(0);
    for (size_t i = 0; i < n; i += VLEN) sum += row_x(row, i, n - i < VLEN ? n - i : VLEN);
    return vsum(sum) * (row.c < 16 ? (float)per : 1.0f / 16);
}

/* From sums around m. In real numbers the mean is m + c and the variance E[d^2] - c^2, whatever m.
 * per: 1 / c, in double, where multiplying by it is as good as dividing. */
NL_INLINE stats from_sums(nl_view row, double per, float m, pair s) {
    double c = s.d * per, var = (s.squares - c * s.d) * per;
    float rstd = 1 / sqrtf((float)var + row.eps);
    return (stats){m, (float)c, rstd, (float)c * rstd, false};
}

/* Sums that left float's range upwards; or downwards, where eps does not cover it. */
NL_INLINE bool out_of_range(nl_view row, pair s) {
    bool too_small = s.squares < 0x1p-96 && row.eps < 0x1p-96f;
    return !(s.squares <= (double)FLT_MAX) || too_small;
}

NL_INLINE stats root_mean_square(nl_view row, double per, pair s, recipe q) {
    float rstd = 1 / sqrtf((float)(s.squares * per) + row.eps);
    return (stats){0, 0, rstd, 0, q.how == CERTIFIED && out_of_range(row, s)};
}

/* The refined second reading around a mean that is nearly right. */
NL_COLD stats refine(const nl_view *v, size_t r, double per, float m) {
    const nl_view row = nl_row(*v, r);
    return from_sums(row, per, m, sum_row(row, m, (recipe){.how = CERTIFIED}));
}

/* The guess was off by less than sigma, so that var lost at most one bit. */
NL_INLINE bool trusted(double per, pair s) {
    return 2 * s.d * s.d * per <= s.squares;
}

/* What the only reading says, when it says itself that it is to be trusted. Else the row is read
 * again. */
NL_INLINE stats certify(const nl_view *v, size_t r, double per, float m, pair s) {
    if (out_of_range(*v, s)) return (stats){.in_double = true};
    if (trusted(per, s)) return from_sums(*v, per, m, s);
    return refine(v, r, per, m + (float)(s.d * per));
}

/* Of row r of v. What is rare gets v's address, so that no row's view need be in memory. */
NL_INLINE stats row_stats_from(const nl_view *v, size_t r, double per, float m, pair s, recipe q) {
    if (!q.centred) return root_mean_square(*v, per, s, q);
    if (q.how == SHIFTED) return from_sums(*v, per, m, s);
    return certify(v, r, per, m, s);
}

NL_INLINE stats row_stats(const nl_view *v, size_t r, double per, recipe q) {
    const nl_view row = nl_row(*v, r);
    if (q.centred && q.how <= REFINED) {
        float first = q.how == REFINED ? nl_x(row, 0) : 0;
        float m = first + (float)(sum_row(row, first, q).d * per);
        pair s = sum_row(row, m, q);
        if (q.how == TWO_PASS) s.d = 0; /* takes m for the mean itself */
        return from_sums(row, per, m, s);
    }
    float guess = first_guess(row, per, q);
    return row_stats_from(v, r, per, guess, sum_row(row, guess, q), q);
}

/* y of the row's k elements from i on, which are x. */
NL_INLINE void put_x(nl_view v, size_t i, size_t k, vf x, stats s, recipe q, bool stream) {
    if (v.residual_out) vstore(v.t, v.residual_out, i, k, x);
    vf y = x * vset(s.rstd);
    if (q.centred && q.how == TWO_PASS) y = (x - vset(s.m)) * vset(s.rstd);
    if (q.centred && q.how != TWO_PASS) y = vfma(x - vset(s.m), vset(s.rstd), vset(-s.shift));
    if (v.cast_before_weight) y = vround(v.t, y);
    vf gain = v.gamma ? vload(NL_F32, v.gamma, i, k) : vset(1);
    if (v.gamma && v.plus_one) gain += vset(1);
    if (v.beta)
        y = vfma(y, gain, vload(NL_F32, v.beta, i, k));
    else if (v.gamma)
        y *= gain;
    if (stream)
        vstream(v.t, v.y, i, y);
    else
        vstore(v.t, v.y, i, k, y);
}

NL_INLINE void put(nl_view v, size_t i, stats s, recipe q, bool stream) {
    put_x(v, i, VLEN, row_x(v, i, VLEN), s, q, stream);
}

/* Where y's first whole vector begins: from there on no store straddles two lines. The elements
 * before it, and those after the last whole one, are the edges, whose vectors overlap the others. In
 * place an output would then be read as input, so the edges' x is taken before, and stored after. */
typedef struct edges {
    size_t begin, end; /* of the whole vectors */
    vf head, tail;
} edges;

NL_INLINE edges take_edges(nl_view row) {
    if (row.c < VLEN) return (edges){0, 0, row_x(row, 0, row.c), vset(0)};
    const size_t size = row.t == NL_F32 ? 4 : 2, off = (uintptr_t)row.y % (VLEN * size) / size;
    edges e = {.begin = off ? VLEN - off : 0};
    e.end = e.begin + (row.c - e.begin) / VLEN * VLEN;
    e.head = row_x(row, 0, VLEN), e.tail = row_x(row, row.c - VLEN, VLEN);
    return e;
}

NL_INLINE void put_edges(nl_view row, edges e, stats s, recipe q) {
    if (row.c < VLEN) {
        put_x(row, 0, row.c, e.head, s, q, false);
        return;
    }
    if (e.begin) put_x(row, 0, VLEN, e.head, s, q, false);
    if (e.end < row.c) put_x(row, row.c - VLEN, VLEN, e.tail, s, q, false);
}

NL_COLD void in_double(const nl_view *v, size_t r, bool centred) {
    const nl_view row = nl_row(*v, r);
    double mean = 0, squares = 0;
    for (size_t i = 0; centred && i < row.c; i++) mean += nl_x(row, i);
    mean /= (double)row.c;
    for (size_t i = 0; i < row.c; i++) squares += (nl_x(row, i) - mean) * (nl_x(row, i) - mean);
    double rstd = 1 / sqrt(squares / (double)row.c + (double)row.eps);
    for (size_t i = 0; i < row.c; i++) nl_put_y(row, i, (float)((nl_x(row, i) - mean) * rstd));
    nl_keep(row, (float)mean, (float)rstd);
}

NL_INLINE void row_output(nl_view row, stats s, recipe q) {
    const edges e = take_edges(row);
    size_t i = e.begin;
    for (; i + STEP <= e.end; i += STEP) {
        if (q.streaming) ask_for_next(row, i, 1, 3);
        put(row, i, s, q, q.streaming);
        put(row, i + VLEN, s, q, q.streaming);
        put(row, i + 2 * VLEN, s, q, q.streaming);
        put(row, i + 3 * VLEN, s, q, q.streaming);
    }
    for (; i < e.end; i += VLEN) put(row, i, s, q, q.streaming);
    put_edges(row, e, s, q);
}

NL_INLINE void ask_for(nl_view row, size_t i, recipe q) {
    const size_t size = row.t == NL_F32 ? 4 : 2;
    for (size_t line = 0; q.ahead && line < STEP * size; line += 64)
        vprefetch((const char *)row.x + i * size + line + q.ahead);
}

/* The output of this row, and in the same loop the sums of the next one around its guess: in the order
 * of sum_piece, so that a row's bits do not depend on where in the batch it is. */
NL_INLINE pair fused_output(nl_view row, stats s, nl_view next, float guess, recipe q) {
    const vf m = vset(guess);
    const edges e = take_edges(row);
    sums t;
    size_t i = e.begin, j = first_sums(&t, next, 0, row.c, m);
    for (; i + STEP <= e.end && j + STEP <= row.c; i += STEP, j += STEP) {
        ask_for(next, j, q);
        add_to(&t.d0, &t.squares0, next, j, VLEN, m);
        put(row, i, s, q, false);
        add_to(&t.d1, &t.squares1, next, j + VLEN, VLEN, m);
        put(row, i + VLEN, s, q, false);
        add_to(&t.d2, &t.squares2, next, j + 2 * VLEN, VLEN, m);
        put(row, i + 2 * VLEN, s, q, false);
        add_to(&t.d3, &t.squares3, next, j + 3 * VLEN, VLEN, m);
        put(row, i + 3 * VLEN, s, q, false);
    }
    for (; i < e.end; i += VLEN) put(row, i, s, q, false);
    put_edges(row, e, s, q);
    if (j + STEP <= row.c) { /* y's boundary has cost the loop its last step */
        add_to(&t.d0, &t.squares0, next, j, VLEN, m);
        add_to(&t.d1, &t.squares1, next, j + VLEN, VLEN, m);
        add_to(&t.d2, &t.squares2, next, j + 2 * VLEN, VLEN, m);
        add_to(&t.d3, &t.squares3, next, j + 3 * VLEN, VLEN, m);
        j += STEP;
    }
    return last_sums(&t, next, j, row.c, m);
}

NL_INLINE void rows(nl_view v, recipe q) {
    const nl_view whole = v;
    const double per = 1 / (double)v.c;
    stats s = {0};
    bool known = false; /* s is this row's */
    for (size_t r = 0; r < v.n; r++) {
        const nl_view row = nl_row(v, r), next = nl_row(v, r + 1);
        if (!known) s = row_stats(&whole, r, per, q);
        known = q.pipelined && r + 1 < v.n && v.c <= PIECE && !s.in_double;
        if (s.in_double) {
            in_double(&whole, r, q.centred);
            continue;
        }
        nl_keep(row, s.m + s.c, s.rstd);
        if (known) {
            const float guess = first_guess(next, per, q);
            const pair sum = fused_output(row, s, next, guess, q);
            s = row_stats_from(&whole, r + 1, per, guess, sum, q);
        } else {
            row_output(row, s, q);
        }
    }
    if (q.streaming) vfence();
}

NL_INLINE void assume(bool fact) {
    if (!fact) __builtin_unreachable();
}

/* The usual case: gamma and (LayerNorm) beta and no more. What is said here the compiler knows in
 * the loops, and asks nothing there. */
NL_INLINE void usual_rows(nl_view v, nl_dtype t, bool plus_one, recipe q) {
    assume(v.gamma && (!q.centred || v.beta));
    if (!q.centred) v.beta = NULL;
    v.residual = v.residual_out = NULL;
    v.cast_before_weight = false, v.plus_one = plus_one, v.t = t;
    rows(v, q);
}

NL_INLINE void usual_types(nl_view v, bool plus_one, recipe q) {
    switch (v.t) {
    case NL_F32: usual_rows(v, NL_F32, plus_one, q); break;
    case NL_F16: usual_rows(v, NL_F16, plus_one, q); break;
    case NL_BF16: usual_rows(v, NL_BF16, plus_one, q); break;
    }
}

/* Everything else asks at every vector what is there, and one row after the other. */
NL_INLINE void other_rows(nl_view v, nl_dtype t, recipe q) {
    q.pipelined = false, v.t = t;
    rows(v, q);
}

NL_INLINE void other_types(nl_view v, recipe q) {
    if (q.by_type && v.t == NL_F16)
        other_rows(v, NL_F16, q);
    else if (q.by_type && v.t == NL_BF16)
        other_rows(v, NL_BF16, q);
    else
        other_rows(v, v.t, q);
}

NL_INLINE bool is_usual(nl_view v, bool centred) {
    return v.gamma && !v.residual && !v.cast_before_weight && centred == !!v.beta;
}

NL_INLINE void rows_of_layer(nl_view v, recipe q) {
    if (!is_usual(v, q.centred))
        other_types(v, q);
    else if (!q.centred && v.plus_one)
        usual_types(v, true, q);
    else
        usual_types(v, false, q);
}

/* The whole of a rung's forward(). */
NL_INLINE void rows_forward(const nl_problem *p, const nl_forward_args *a, recipe q) {
    nl_view v = nl_view_of(p, a);
    q.centred = true;
    if (p->op == NL_LAYERNORM) {
        rows_of_layer(v, q);
        return;
    }
    q.centred = false;
    rows_of_layer(v, q);
}

enum { ROW_NORMS = NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM) };

#endif
