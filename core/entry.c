/* The two entry points: every argument is checked here, once, before anything is written.
 * SPDX-License-Identifier: MIT */
#include "dtype.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char message[256];

const char *nl_message(void) {
    return message;
}

static nl_status fail(nl_status status, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    vsnprintf(message, sizeof message, format, rest);
    va_end(rest);
    return status;
}

/* One buffer of a call: its name for messages, where it lies, whether it is written, and which
 * other it may share its memory with, exactly. */
typedef struct span {
    const char *name;
    const void *at;
    size_t bytes;
    bool required, allowed, written;
    const char *in_place_of;
} span;
enum { SPANS_MOST = 11 };

static bool overlap(const span *a, const span *b) {
    uintptr_t x = (uintptr_t)a->at, y = (uintptr_t)b->at;
    return x < y + b->bytes && y < x + a->bytes;
}

/* A call on one short row takes as long as this does: so it is a part of both entry points, where
 * most of what it asks is a constant, and what is absent is not looked at twice. */
NL_INLINE nl_status check_spans(const nl_problem *p, const span *spans, size_t count) {
    const span *used[SPANS_MOST];
    size_t uses = 0;
#pragma GCC unroll 11
    for (size_t k = 0; k < count; k++) {
        const span *a = spans + k;
        if (!a->allowed && a->at)
            return fail(NL_BAD_ARGUMENT, "%s %s does not take %s: pass NULL", nl_op_name(p->op),
                        nl_pass_name(p->pass), a->name);
        if (a->required && !a->at)
            return fail(NL_BAD_ARGUMENT, "%s %s: %s is NULL; it needs %zu bytes", nl_op_name(p->op),
                        nl_pass_name(p->pass), a->name, a->bytes);
        if (a->at && a->bytes) used[uses++] = a;
    }
    for (size_t i = 0; i < uses; i++) {
        const span *a = used[i];
        for (size_t j = 0; a->written && j < uses; j++) {
            const span *b = used[j];
            if (a == b || !overlap(a, b)) continue;
            if (a->at == b->at && (a->in_place_of == b->name || b->in_place_of == a->name))
                continue;
            return fail(NL_BAD_ARGUMENT,
                        "%s and %s overlap; apart from y == x, residual_out == residual, "
                        "dx == dy and dx == dresidual, an output needs memory of its own",
                        a->name, b->name);
        }
    }
    return NL_OK;
}

static nl_status check_problem(const nl_problem *p, const nl_impl **impl, int threads) {
    if ((unsigned)p->op > NL_QWEN2_RMSNORM)
        return fail(NL_BAD_ARGUMENT, "op %d is not an nl_op", (int)p->op);
    if ((unsigned)p->pass > NL_INFERENCE)
        return fail(NL_BAD_ARGUMENT, "pass %d is not an nl_pass", (int)p->pass);
    if ((unsigned)p->dtype > NL_BF16)
        return fail(NL_BAD_ARGUMENT, "dtype %d is not an nl_dtype", (int)p->dtype);
    if ((unsigned)p->casting > NL_CAST_BEFORE_WEIGHT)
        return fail(NL_BAD_ARGUMENT, "casting %d is not an nl_casting", (int)p->casting);
    if ((unsigned)p->stores > NL_STORES_STREAMING)
        return fail(NL_BAD_ARGUMENT, "stores %d is not an nl_stores", (int)p->stores);
    bool batch = p->op == NL_BATCHNORM;
    if (p->pass == NL_INFERENCE && !batch)
        return fail(NL_BAD_ARGUMENT, "%s keeps no running statistics: inference is forward",
                    nl_op_name(p->op));
    if (p->c == 0 || p->s == 0)
        return fail(NL_BAD_ARGUMENT, "c = %zu, s = %zu: both must be at least 1", p->c, p->s);
    if (p->s != 1 && !batch)
        return fail(NL_BAD_ARGUMENT, "%s normalizes rows of c: s is %zu and must be 1",
                    nl_op_name(p->op), p->s);
    size_t values;
    if (__builtin_mul_overflow(p->c, p->s, &values) ||
        __builtin_mul_overflow(values, p->n, &values) || p->c * p->s > SIZE_MAX / 16 ||
        values > SIZE_MAX / 16)
        return fail(NL_BAD_ARGUMENT, "n * c * s = %zu * %zu * %zu overflows size_t", p->n, p->c,
                    p->s);
    if (!(p->eps >= 0) || isinf(p->eps))
        return fail(NL_BAD_ARGUMENT, "eps = %g must be finite and not negative", (double)p->eps);
    if (batch && !(p->momentum >= 0 && p->momentum <= 1))
        return fail(NL_BAD_ARGUMENT, "momentum = %g, the weight of the new value, is not in [0, 1]",
                    (double)p->momentum);
    if (batch && p->pass != NL_INFERENCE && p->n && p->n * p->s == 1)
        return fail(NL_BAD_ARGUMENT, "batchnorm training needs more than one value a channel: "
                                     "n * s is 1 (use NL_INFERENCE, or a larger batch)");
    if (threads < 1) return fail(NL_BAD_ARGUMENT, "threads = %d must be at least 1", threads);
    if (!*impl) {
        *impl = nl_best(p, threads);
        if (*impl) return NL_OK;
        return fail(NL_UNSUPPORTED, "no implementation takes %s %s in %s", nl_op_name(p->op),
                    nl_pass_name(p->pass), nl_dtype_name(p->dtype));
    }
    if (!nl_accepts(*impl, p))
        return fail(NL_UNSUPPORTED, "%s does not take %s %s in %s", (*impl)->name,
                    nl_op_name(p->op), nl_pass_name(p->pass), nl_dtype_name(p->dtype));
    if (!nl_isa_runs((*impl)->isa))
        return fail(NL_UNSUPPORTED, "%s needs %s, which this processor lacks", (*impl)->name,
                    (*impl)->isa);
    return NL_OK;
}

/* Working memory the caller did not bring; *owned is what to free. */
static nl_status find_scratch(const nl_impl *impl, const nl_problem *p, void **scratch,
                              void **owned) {
    size_t bytes = nl_scratch_bytes(impl, p);
    *owned = NULL;
    if (*scratch || !bytes) return NL_OK;
    if (bytes < SIZE_MAX - 63) *owned = aligned_alloc(64, (bytes + 63) / 64 * 64);
    *scratch = *owned;
    if (*scratch) return NL_OK;
    return fail(NL_OUT_OF_MEMORY, "no %zu bytes of scratch for %s", bytes, impl->name);
}

nl_status nl_forward(const nl_impl *impl, const nl_problem *p, const nl_forward_args *args,
                     int threads) {
    if (!p || !args) return fail(NL_BAD_ARGUMENT, "the problem or its arguments are NULL");
    if (p->pass == NL_BACKWARD)
        return fail(NL_BAD_ARGUMENT, "nl_forward was given a backward problem: use nl_backward");
    nl_status status = check_problem(p, &impl, threads);
    if (status != NL_OK) return status;

    nl_forward_args a = *args;
    bool batch = p->op == NL_BATCHNORM, inference = p->pass == NL_INFERENCE;
    bool centred = batch || p->op == NL_LAYERNORM;
    bool some = p->n != 0, training = batch && !inference, reads = some && inference;
    size_t tensor = p->n * p->c * p->s * nl_dtype_bytes(p->dtype);
    size_t channels = p->c * sizeof(float);
    size_t groups = (batch ? p->c : p->n) * sizeof(float);
    const char *residual = "residual", *x = "x";
    const span spans[] = {
        {x, a.x, tensor, some, true, false, NULL},
        {residual, a.residual, tensor, some && !batch && a.residual_out, !batch, false, NULL},
        {"gamma", a.gamma, channels, false, true, false, NULL},
        {"beta", a.beta, channels, false, centred, false, NULL},
        {"y", a.y, tensor, some, true, true, x},
        {"residual_out", a.residual_out, tensor, false, !batch, true, residual},
        {"mean", a.mean, groups, false, centred && !inference, true, NULL},
        {"rstd", a.rstd, groups, false, !inference, true, NULL},
        {"running_mean", a.running_mean, channels, reads || (batch && a.running_var), batch,
         training, NULL},
        {"running_var", a.running_var, channels, reads || (batch && a.running_mean), batch,
         training, NULL},
        {"scratch", a.scratch, a.scratch ? nl_scratch_bytes(impl, p) : 0, false, true, true, NULL},
    };
    status = check_spans(p, spans, sizeof spans / sizeof *spans);
    if (status != NL_OK || !some) return status;

    void *owned;
    status = find_scratch(impl, p, &a.scratch, &owned);
    if (status != NL_OK) return status;
    impl->forward(p, &a, threads);
    free(owned);
    return NL_OK;
}

nl_status nl_backward(const nl_impl *impl, const nl_problem *p, const nl_backward_args *args,
                      int threads) {
    if (!p || !args) return fail(NL_BAD_ARGUMENT, "the problem or its arguments are NULL");
    if (p->pass != NL_BACKWARD)
        return fail(NL_BAD_ARGUMENT, "nl_backward was given a %s problem: use nl_forward",
                    (unsigned)p->pass <= NL_INFERENCE ? nl_pass_name(p->pass) : "nonsensical");
    nl_status status = check_problem(p, &impl, threads);
    if (status != NL_OK) return status;

    nl_backward_args a = *args;
    bool batch = p->op == NL_BATCHNORM, centred = batch || p->op == NL_LAYERNORM;
    bool some = p->n != 0;
    size_t tensor = p->n * p->c * p->s * nl_dtype_bytes(p->dtype);
    size_t channels = p->c * sizeof(float);
    size_t groups = (batch ? p->c : p->n) * sizeof(float);
    const char *dy = "dy", *dx = "dx";
    const span spans[] = {
        {"x", a.x, tensor, some, true, false, NULL},
        {dy, a.dy, tensor, some, true, false, NULL},
        {"dresidual", a.dresidual, tensor, false, !batch, false, dx},
        {"gamma", a.gamma, channels, false, true, false, NULL},
        {"mean", a.mean, groups, some && centred, centred, false, NULL},
        {"rstd", a.rstd, groups, some, true, false, NULL},
        {dx, a.dx, tensor, some, true, true, dy},
        {"dgamma", a.dgamma, channels, false, true, true, NULL},
        {"dbeta", a.dbeta, channels, false, centred, true, NULL},
        {"scratch", a.scratch, a.scratch ? nl_scratch_bytes(impl, p) : 0, false, true, true, NULL},
    };
    status = check_spans(p, spans, sizeof spans / sizeof *spans);
    if (status != NL_OK || !some) return status;

    void *owned;
    status = find_scratch(impl, p, &a.scratch, &owned);
    if (status != NL_OK) return status;
    impl->backward(p, &a, threads);
    free(owned);
    return NL_OK;
}
