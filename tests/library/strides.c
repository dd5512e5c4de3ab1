/* Rows with gaps give the bits of packed rows, and no kernel writes into the gaps. Impossible
 * strides are refused, and wrong kernels are found. SPDX-License-Identifier: MIT */
#include "cases/suite.h"
#include "trial.h"

TestSuite(strides, .init = fork_always);

enum { ROWS_MOST = 48, WIDEST = 300, ELEMENTS = 3 * ROWS_MOST * (WIDEST + 80), GAP = 0x5a };

/* Strides of a tensor: packed; with gaps; or with the rows of the inner dimension farther apart
 * than those of the outer dimension. */
static nl_stride draw_stride(const nl_problem *p, uint64_t i) {
    const size_t row = p->c + below(20, 30, i), gap = below(60, 31, i);
    if (below(4, 32, i) == 0) return (nl_stride){0, 0};
    if (!p->inner) return (nl_stride){row, 0};
    if (below(3, 33, i)) return (nl_stride){row, p->inner * row + gap};
    return (nl_stride){p->n / p->inner * row + gap, row};
}

static nl_problem draw(uint64_t i) {
    static const nl_op ops[] = {NL_LAYERNORM, NL_RMSNORM, NL_QWEN2_RMSNORM};
    const size_t inner = below(5, 20, i), outer = 1 + below(9, 21, i);
    nl_problem p = {.op = ops[below(3, 22, i)], .s = 1, .eps = 1e-5f, .inner = inner};
    p.pass = below(2, 23, i) ? NL_BACKWARD : NL_FORWARD;
    p.dtype = (nl_dtype)below(NL_DTYPES, 24, i);
    p.stores = (nl_stores)below(NL_STORES_IN_PLACE + 1, 25, i);
    p.sum = (nl_sum)below(2, 26, i), p.casting = (nl_casting)below(2, 27, i);
    p.n = inner ? inner * outer : 1 + below(ROWS_MOST, 28, i), p.c = 1 + below(WIDEST, 29, i);
    p.x_stride = draw_stride(&p, 5 * i), p.dy_stride = draw_stride(&p, 5 * i + 1);
    p.residual_stride = draw_stride(&p, 5 * i + 2), p.y_stride = draw_stride(&p, 5 * i + 3);
    p.residual_out_stride = draw_stride(&p, 5 * i + 4);
    return p;
}

/* The place of an element by the definition in normlab.h. */
static size_t index_of(const nl_problem *p, nl_stride s, size_t i) {
    const size_t r = i / p->c, row = s.row ? s.row : p->c,
                 outer = s.outer ? s.outer : p->inner * row;
    return (p->inner ? r / p->inner * outer + r % p->inner * row : r * row) + i % p->c;
}

enum { X, DY, RESIDUAL, Y, RESIDUAL_OUT, TENSORS };

static void strides_of(const nl_problem *p, nl_stride s[TENSORS]) {
    s[X] = p->x_stride, s[DY] = p->dy_stride, s[RESIDUAL] = p->residual_stride;
    s[Y] = p->y_stride, s[RESIDUAL_OUT] = p->residual_out_stride;
}

static float packed[TENSORS][ELEMENTS], strided[TENSORS][ELEMENTS], gamma_of[WIDEST],
    mean[2][ROWS_MOST], rstd[2][ROWS_MOST];

static nl_status call(const nl_impl *impl, const nl_problem *p, float (*t)[ELEMENTS], int which,
                      bool residual, int threads) {
    return call_with(impl, p, threads,
                     (void *[NL_ARGS]){[NL_X] = t[X],
                                       [NL_RESIDUAL] = residual ? t[RESIDUAL] : NULL,
                                       [NL_DY] = t[DY],
                                       [NL_GAMMA] = gamma_of,
                                       [NL_MEAN] = mean[which],
                                       [NL_RSTD] = rstd[which],
                                       [NL_Y] = t[Y],
                                       [NL_RESIDUAL_OUT] = residual ? t[RESIDUAL_OUT] : NULL,
                                       [NL_DX] = t[Y]});
}

static void check(uint64_t i, const nl_impl *impl) {
    nl_problem p = draw(i), q = p;
    nl_stride s[TENSORS];
    const size_t count = p.n * p.c, size = nl_dtype_size(p.dtype);
    const bool residual = below(2, 34, i);
    strides_of(&p, s);
    q.inner = 0;
    q.x_stride = q.dy_stride = q.residual_stride = q.y_stride = q.residual_out_stride =
        (nl_stride){0};
    if (impl && !(impl->strided && computes(impl, &p))) return;
    memset(strided, GAP, sizeof strided), memset(packed, GAP, sizeof packed);
    for (size_t r = 0; r < p.n; r++) mean[0][r] = mean[1][r] = 0.1f, rstd[0][r] = rstd[1][r] = 0.7f;
    for (int k = X; k <= RESIDUAL; k++)
        for (size_t e = 0; e < count; e++) {
            const float v = (float)random_normal(40 + (uint64_t)k, e + i);
            nl_store(p.dtype, packed[k], e, v);
            nl_store(p.dtype, strided[k], index_of(&p, s[k], e), v);
        }
    for (size_t j = 0; j < p.c; j++) gamma_of[j] = (float)random_normal(50, j);
    const int threads = 1 + (int)below(3, 35, i);
    const char *name = impl ? impl->name : "nl_best()";
    if (call(impl, &q, packed, 0, residual, 1) || call(impl, &p, strided, 1, residual, threads))
        cr_assert_fail("%s: %s", name, nl_message());
    bool right = memcmp(mean[0], mean[1], p.n * sizeof **mean) == 0 &&
                 memcmp(rstd[0], rstd[1], p.n * sizeof **rstd) == 0;
    for (int k = Y; k <= RESIDUAL_OUT; k++) { /* replaces the rows by GAP: then all must be GAP */
        static float back[ELEMENTS], gap[ELEMENTS];
        memset(back, GAP, sizeof back), memset(gap, GAP, sizeof gap);
        for (size_t e = 0; e < count; e++) {
            char *from = (char *)strided[k] + index_of(&p, s[k], e) * size;
            memcpy((char *)back + e * size, from, size), memset(from, GAP, size);
        }
        right = right && memcmp(back, packed[k], sizeof back) == 0 &&
                memcmp(gap, strided[k], sizeof gap) == 0;
    }
    if (!right)
        cr_assert_fail("%s, draw %llu: %s, inner %zu: differs from packed rows", name,
                       (unsigned long long)i, spelled(&p), p.inner);
}

Test(strides, as_packed_rows) {
    for (uint64_t i = 0; i < 1500; i++) check(i, NULL);
    for (size_t m = 0; m < nl_impl_count(); m++)
        for (uint64_t i = 0; i < 20; i++) check(2000 + 20 * m + i, nl_impl_at(m));
}

static void refused(const nl_impl *impl, const nl_problem *p, const nl_forward_args *a,
                    nl_status want, const char *why) {
    const nl_status status = nl_forward(impl, p, a, 1);
    cr_assert(status == want && strstr(nl_message(), why), "status %d, '%s' says nothing of '%s'",
              status, nl_message(), why);
}

/* One tensor [4][2 + 1 + 1][8] has two heads of q, one of k and one of v. */
Test(strides, what_is_refused) {
    static float qkv[128], other[256], g[8];
    const nl_problem heads =
        {.op = NL_RMSNORM, .n = 8, .c = 8, .s = 1, .inner = 2, .x_stride = {8, 32}};
    nl_problem p = heads;
    nl_forward_args a = {.x = qkv, .gamma = g, .y = other};
    cr_assert(nl_forward(NULL, &p, &a, 1) == NL_OK, "%s", nl_message());
    p.y_stride = p.x_stride, a.y = qkv;
    cr_assert(nl_forward(NULL, &p, &a, 1) == NL_OK, "in place: %s", nl_message());
    a.y = qkv + 16;
    cr_assert(nl_forward(NULL, &p, &a, 1) == NL_OK, "k beside q: %s", nl_message());
    a.y = qkv + 8;
    refused(NULL, &p, &a, NL_BAD_ARGUMENT, "overlap");
    p.y_stride = (nl_stride){0}, a.y = qkv;
    refused(NULL, &p, &a, NL_BAD_ARGUMENT, "overlap");
    const struct {
        size_t n, inner;
        nl_stride x;
        const char *why;
    } bad[] = {{8, 3, {8, 32}, "multiple of inner"}, {8, 2, {7, 32}, "overlap"},
               {8, 2, {8, 15}, "overlap"},           {8, 2, {8, SIZE_MAX / 2}, "leave memory"},
               {8, 0, {SIZE_MAX / 4, 0}, "leave"},   {8, 0, {4, 0}, "overlap"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        p = heads, a.y = other, p.n = bad[i].n, p.inner = bad[i].inner, p.x_stride = bad[i].x;
        refused(NULL, &p, &a, NL_BAD_ARGUMENT, bad[i].why);
    }
    for (int bit = 40; bit < 64; bit++) { /* an unused distance, which may overflow */
        p = heads, a.y = qkv + 1, p.n = 2, p.x_stride.outer = (size_t)1 << bit,
        p.y_stride = p.x_stride;
        refused(NULL, &p, &a, NL_BAD_ARGUMENT, "overlap");
    }
    p = heads, a.y = other;
    refused(nl_find("rmsnorm/unfused", "c"), &p, &a, NL_UNSUPPORTED, "follow each other");
    p.op = NL_BATCHNORM;
    refused(NULL, &p, &a, NL_BAD_ARGUMENT, "");
    p = heads, p.op = NL_GATED_RMSNORM, p.residual_stride = (nl_stride){7, 32}, a.gate = other;
    refused(NULL, &p, &a, NL_BAD_ARGUMENT, "gate ");
    cr_assert(strncmp(nl_message(), "gate ", 5) == 0, "%s", nl_message());
}

/* Wrong kernels: rmsnorm/naive with another plan or problem. */
static enum { RIGHT, PACKED, NO_OUTER, X_FOR_Y, X_FOR_RESIDUAL, BETWEEN, NOT_ROUNDED, WRONG } fault;

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    nl_problem q = *p;
    nl_forward_args b = *a;
    nl_plan plan = *a->plan;
    nl_rows rows = *plan.rows;
    plan.rows = fault == PACKED ? NULL : &rows, b.plan = &plan;
    if (fault == NO_OUTER) rows.inner = rows.reciprocal = 0;
    if (fault == X_FOR_Y) rows.y = rows.x;
    if (fault == X_FOR_RESIDUAL) rows.residual = rows.x;
    if (fault == NOT_ROUNDED) q.sum = NL_SUM_FLOAT;
    nl_find("rmsnorm/naive", "c")->forward(&q, &b, threads);
    if (fault == BETWEEN) nl_store(p->dtype, a->y, p->c, 1);
}

Test(strides, wrong_kernels_are_found) {
    nl_impl mine = *nl_find("rmsnorm/naive", "c");
    mine.name = "test/strided", mine.forward = forward;
    for (fault = RIGHT; fault < WRONG; fault++) {
        trial t;
        trial_make(&t, "rmsnorm/forward/bf16/12x40/normal/residual/rounded-sum/inner=3/gap=2/"
                       "outer-gap=50/gap-y=5/gap-residual=4");
        trial_place(&t, &mine);
        trial_call(&t, 1);
        const verdict v = outputs_check(&t.in, &t.want);
        cr_assert((v.outcome == OUTCOME_OK) == (fault == RIGHT), "fault %d: %s", (int)fault, v.why);
        trial_end(&t);
    }
}
