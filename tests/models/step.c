/* Tests the steps of the study `model_step`: compares gradients with difference quotients, and the
 * output of the last token, computed with a cache, with its output if all tokens are computed at
 * once. Needs OpenBLAS. SPDX-License-Identifier: MIT */
#include "models/blas.h"
#include "models/step.h"
#include "slope.h"

TestSuite(step, .init = one_thread);

enum { ROWS = 5 };
static const step_shape shapes[] = {{"plain", 12, 3, 3, 20, false},
                                    {"gated, grouped", 16, 4, 2, 24, true},
                                    {"GRU", 10, 0, 0, 0, false}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void need_blas(void) {
    const char *why;
    if (!blas_open(&why)) cr_skip_test("no OpenBLAS: apt-get install libopenblas0-pthread");
}

static step make(size_t shape, size_t rows, size_t past, bool training, nl_op op) {
    step s;
    cr_assert(step_make(&s, &shapes[shape], rows, past, training), "no memory");
    s.op = op;
    return s;
}

/* sum(dy * y) */
static double loss(void *of) {
    step *s = of;
    double sum = 0;
    step_forward(s);
    for (size_t i = 0; i < s->rows * s->shape.width; i++) sum += (double)s->dy[i] * (double)s->y[i];
    return sum;
}

static void slope(step *s, const char *what, float *v, const float *gradient, size_t count) {
    char name[80];
    snprintf(name, sizeof name, "%s, %s, %s", s->shape.name, nl_op_name(s->op), what);
    expect_slope(name, v, gradient, count, 9, loss, s);
}

Test(step, gradient) {
    need_blas();
    static const nl_op ops[] = {NL_LAYERNORM, NL_RMSNORM};
    for (size_t k = 0; k < 2 * SHAPES; k++) {
        step s = make(k / 2, ROWS, 0, true, ops[k % 2]);
        size_t c = s.shape.width, n = ROWS * c, heads = s.shape.heads;
        size_t wide = heads ? c + 2 * c / heads * s.shape.kv_heads : c;
        loss(&s), step_backward(&s);
        slope(&s, "x", s.x, s.dx, n);
        slope(&s, "the last weights", s.weights[heads ? 0 : 3], s.dw, c * wide);
        if (!heads) slope(&s, "h", s.h, s.dh, n);
        for (size_t i = 0; i < (heads ? 2 : STEP_NORMS); i++) {
            slope(&s, "gamma", s.norms[i].gamma, s.norms[i].dgamma, c);
            if (s.op == NL_LAYERNORM) slope(&s, "beta", s.norms[i].beta, s.norms[i].dbeta, c);
        }
        step_free(&s);
    }
}

/* Keys and values are kept[2] and kept[3] (block.c). */
Test(step, one_token_after_the_others) {
    need_blas();
    for (size_t k = 0; k < 2; k++) {
        step all = make(k, ROWS, 0, false, NL_RMSNORM),
             last = make(k, 1, ROWS - 1, false, NL_RMSNORM);
        size_t c = all.shape.width, kv = c / all.shape.heads * all.shape.kv_heads;
        size_t ffn = all.shape.ffn * (all.shape.gated ? 2 : 1);
        const size_t counts[] = {c * (c + 2 * kv), c * c, c * ffn, all.shape.ffn * c};
        for (size_t i = 0; i < 4; i++)
            memcpy(last.weights[i], all.weights[i], counts[i] * sizeof(float));
        for (size_t i = 0; i < 2; i++) {
            memcpy(last.norms[i].gamma, all.norms[i].gamma, c * sizeof(float));
            memcpy(last.norms[i].beta, all.norms[i].beta, c * sizeof(float));
        }
        step_forward(&all);
        for (size_t i = 2; i < 4; i++)
            memcpy(last.kept[i], all.kept[i], (ROWS - 1) * kv * sizeof(float));
        memcpy(last.x, all.x + (ROWS - 1) * c, c * sizeof(float));
        step_forward(&last);
        for (size_t j = 0; j < c; j++) {
            float want = all.y[(ROWS - 1) * c + j];
            cr_assert(fabsf(last.y[j] - want) < 1e-5f, "%s, %zu: %g, not %g", all.shape.name, j,
                      (double)last.y[j], (double)want);
        }
        step_free(&all), step_free(&last);
    }
}

/* Later tokens do not change a token's output; earlier tokens do. */
Test(step, tokens_do_not_see_the_next) {
    need_blas();
    for (size_t k = 0; k < 2; k++) {
        step s = make(k, ROWS, 0, false, NL_LAYERNORM);
        size_t c = s.shape.width;
        float before[ROWS * 16];
        step_forward(&s);
        memcpy(before, s.y, ROWS * c * sizeof *before);
        s.x[2 * c] += 1; /* of the third token */
        step_forward(&s);
        for (size_t r = 0; r < ROWS; r++) {
            bool same = memcmp(before + r * c, s.y + r * c, c * sizeof *before) == 0;
            cr_assert(same == (r < 2), "%s, row %zu", s.shape.name, r);
        }
        step_free(&s);
    }
}

/* The study times the norms, and step_bytes() is larger for training. */
Test(step, clock_and_memory) {
    need_blas();
    step s = make(0, ROWS, 0, true, NL_LAYERNORM);
    s.norm_ns = 0;
    step_forward(&s);
    double forward = s.norm_ns;
    step_backward(&s);
    cr_assert(forward > 0 && s.norm_ns > forward, "%g, then %g ns", forward, s.norm_ns);
    cr_assert(step_bytes(&s.shape, ROWS, 0, true) > step_bytes(&s.shape, ROWS, 0, false));
    step_free(&s);
}
