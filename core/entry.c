/* The two entry points, which check every argument once, before anything is written.
 * SPDX-License-Identifier: MIT */
#include "best.h"
#include "dtype.h"
#include "fork.h"
#include "layer.h"
#include "message.h"
#include "parameters.h"
#include "strides.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char message[256];

const char *nl_message(void) {
    return message;
}

void nl_note(const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    vsnprintf(message, sizeof message, format, rest);
    va_end(rest);
}

static nl_status fail(nl_status status, const char *format, ...) {
    va_list rest;
    va_start(rest, format);
    vsnprintf(message, sizeof message, format, rest);
    va_end(rest);
    return status;
}

/* The buffers of a call: its arguments, then scratch. */
enum { SCRATCH = NL_ARGS, BUFFERS, OF_SCRATCH = NL_EXTENTS };

static const char *buffer_name(int i, nl_pass pass) {
    return i == SCRATCH ? "scratch" : nl_arg_name((nl_arg)i, pass);
}

NL_INLINE int extent(int i) {
    return i == SCRATCH ? OF_SCRATCH : (int)nl_args[i].extent;
}

static bool in_place(int out, int in) {
    return out != SCRATCH && nl_args[out].replaces & NL_BIT(in);
}

/* Do the rows of two tensors interleave without overlap, as q and k in a packed tensor do? */
static bool lie_between(const nl_problem *p, int a, int b, uintptr_t at, uintptr_t other) {
    const nl_stride s = nl_arg_stride(p, (nl_arg)a), t = nl_arg_stride(p, (nl_arg)b);
    const size_t size = nl_dtype_size(p->dtype), step = (p->inner > 1 ? s.outer : s.row) * size;
    const size_t width = (p->inner > 1 ? (p->inner - 1) * s.row + p->c : p->c) * size;
    if (!step) return false; /* 2^62 elements may overflow to 0 bytes; no row uses such a stride */
    const size_t off = (at > other ? at - other : other - at) % step;
    return s.row == t.row && s.outer == t.outer && off >= width && step - off >= width;
}

static __attribute__((noinline, cold)) nl_status
fail_alignment(const nl_problem *p, const void *const at[BUFFERS], const size_t align[]) {
    int i = 0;
    while ((uintptr_t)at[i] % align[extent(i)] == 0) i++;
    return fail(NL_BAD_ARGUMENT, "%s is at %p, which is not a multiple of %zu bytes%s",
                buffer_name(i, p->pass), at[i], align[extent(i)],
                i == SCRATCH ? "" : ", the size of an element");
}

static bool is_tensor(int i) {
    return extent(i) == NL_TENSOR;
}

static bool same_rows(const nl_problem *p, int a, int b) {
    const nl_stride s = nl_arg_stride(p, (nl_arg)a), t = nl_arg_stride(p, (nl_arg)b);
    return s.row == t.row && s.outer == t.outer;
}

/* Does an output overlap a buffer that it must not overlap? `packed` is a compile-time constant. */
NL_INLINE nl_status check_overlaps(const nl_problem *p, const void *const at[BUFFERS],
                                   unsigned given, const size_t bytes[], bool packed) {
    unsigned others = given;
    for (unsigned left = given & (nl_passes[p->pass].writes | NL_BIT(SCRATCH)); left;
         left &= left - 1) {
        int a = __builtin_ctz(left);
        uintptr_t begin = (uintptr_t)at[a];
        uintptr_t end =
            begin + (packed || a == SCRATCH ? bytes[extent(a)] : nl_arg_bytes(p, (nl_arg)a));
        others ^= NL_BIT(a);
        for (unsigned rest = others; rest; rest &= rest - 1) {
            int b = __builtin_ctz(rest);
            uintptr_t other = (uintptr_t)at[b];
            if (other >= end) continue;
            if (begin >=
                other + (packed || b == SCRATCH ? bytes[extent(b)] : nl_arg_bytes(p, (nl_arg)b)))
                continue;
            if (begin == other && in_place(a, b) && (packed || same_rows(p, a, b))) continue;
            if (!packed && is_tensor(a) && is_tensor(b) && lie_between(p, a, b, begin, other))
                continue;
            return fail(NL_BAD_ARGUMENT,
                        "%s and %s overlap; apart from y == x, residual_out == residual, "
                        "dx == dy, dx == dresidual and dgate == gate, with the same strides, an "
                        "output needs "
                        "memory of its own",
                        buffer_name(a, p->pass), buffer_name(b, p->pass));
        }
    }
    return NL_OK;
}

static __attribute__((noinline)) nl_status check_overlaps_of_strided(const nl_problem *p,
                                                                     const void *const at[BUFFERS],
                                                                     unsigned given,
                                                                     const size_t bytes[]) {
    return check_overlaps(p, at, given, bytes, false);
}

/* On one short row this check costs as much as the kernel, so it is inlined: the absence of a
 * buffer is then a constant. Callers initialize every element of `at` explicitly: with gaps,
 * compilers would clear the whole array first, which takes as long as the other tests. */
NL_INLINE nl_status check_buffers(const nl_problem *p, const void *const at[BUFFERS],
                                  size_t scratch_bytes, bool packed) {
    const struct nl_pass_row *pass = &nl_passes[p->pass];
    const unsigned takes = nl_takes(p->op, p->pass) | NL_BIT(SCRATCH);
    const unsigned running = NL_BIT(NL_RUNNING_MEAN) | NL_BIT(NL_RUNNING_VAR);
    unsigned given = 0;
#pragma GCC unroll 17
    for (int i = 0; i < BUFFERS; i++) given |= at[i] ? NL_BIT(i) : 0;
    if (given & ~takes)
        return fail(NL_BAD_ARGUMENT, "%s %s does not take %s: pass NULL", nl_op_name(p->op),
                    nl_pass_name(p->pass), buffer_name(__builtin_ctz(given & ~takes), p->pass));
    if (!p->n) return NL_OK;

    unsigned missing = pass->needs & takes;
    if (given & NL_BIT(NL_RESIDUAL_OUT)) missing |= NL_BIT(NL_RESIDUAL);
    if (given & running) missing |= running;
    missing &= ~given;
    if (missing) {
        nl_arg i = (nl_arg)__builtin_ctz(missing);
        return fail(NL_BAD_ARGUMENT, "%s %s: %s is NULL; it needs %zu bytes", nl_op_name(p->op),
                    nl_pass_name(p->pass), nl_arg_name(i, p->pass), nl_arg_bytes(p, i));
    }

    const size_t align[] = {[NL_TENSOR] = nl_dtype_size(p->dtype),
                            [NL_FEATURES] = sizeof(float),
                            [NL_PARAMETERS] = nl_dtype_size(p->parameters),
                            [NL_GROUPS] = sizeof(float),
                            [OF_SCRATCH] = 64};
    uintptr_t odd = 0;
#pragma GCC unroll 17
    for (int i = 0; i < BUFFERS; i++) odd |= (uintptr_t)at[i] & (align[extent(i)] - 1);
    if (odd) return fail_alignment(p, at, align);

    const size_t bytes[] = {[NL_TENSOR] = nl_bytes(p, NL_TENSOR),
                            [NL_FEATURES] = nl_bytes(p, NL_FEATURES),
                            [NL_PARAMETERS] = nl_bytes(p, NL_PARAMETERS),
                            [NL_GROUPS] = nl_bytes(p, NL_GROUPS),
                            [OF_SCRATCH] = scratch_bytes};
    if (!packed) return check_overlaps_of_strided(p, at, given, bytes);
    return check_overlaps(p, at, given, bytes, true);
}

static nl_status check_strides(const nl_problem *p) {
    if (p->s != 1 || nl_layers[p->op].by_channel)
        return fail(NL_BAD_ARGUMENT, "%s takes no strides: its rows must follow each other",
                    nl_op_name(p->op));
    if (p->inner && p->n % p->inner)
        return fail(NL_BAD_ARGUMENT, "n = %zu rows are not a multiple of inner = %zu", p->n,
                    p->inner);
    if (p->inner && p->n > UINT32_MAX)
        return fail(NL_BAD_ARGUMENT, "n = %zu rows with an inner dimension: at most 2^32 - 1",
                    p->n);
    for (int i = 0; i < NL_ARGS && p->n; i++) {
        const bool of_gate = i == NL_RESIDUAL || i == NL_RESIDUAL_OUT; /* the gate's strides */
        if (!is_tensor(i) || (nl_layers[p->op].gate && of_gate)) continue;
        const nl_stride s = nl_arg_stride(p, (nl_arg)i);
        if (nl_span(p, s) == SIZE_MAX || !nl_rows_are_apart(p, s))
            return fail(
                NL_BAD_ARGUMENT,
                "%s has strides of %zu and %zu elements: rows of %zu would overlap or leave memory",
                nl_arg_name((nl_arg)i, p->pass), s.row, s.outer, p->c);
    }
    return NL_OK;
}

static nl_status check_problem(const nl_problem *p, const nl_impl **impl, int threads,
                               bool packed) {
    if ((unsigned)p->op >= NL_OPS)
        return fail(NL_BAD_ARGUMENT, "op %d is not an nl_op", (int)p->op);
    if ((unsigned)p->pass >= NL_PASSES)
        return fail(NL_BAD_ARGUMENT, "pass %d is not an nl_pass", (int)p->pass);
    if ((unsigned)p->dtype >= NL_DTYPES)
        return fail(NL_BAD_ARGUMENT, "dtype %d is not an nl_dtype", (int)p->dtype);
    if ((unsigned)p->casting > NL_CAST_BEFORE_WEIGHT)
        return fail(NL_BAD_ARGUMENT, "casting %d is not an nl_casting", (int)p->casting);
    if ((unsigned)p->stores > NL_STORES_IN_PLACE)
        return fail(NL_BAD_ARGUMENT, "stores %d is not an nl_stores", (int)p->stores);
    if (p->parameters != NL_F32 && p->parameters != p->dtype)
        return fail(NL_BAD_ARGUMENT, "parameters %d is neither NL_F32 nor the dtype, %s",
                    (int)p->parameters, nl_dtype_name(p->dtype));
    if ((unsigned)p->sum > NL_SUM_ROUNDED)
        return fail(NL_BAD_ARGUMENT, "sum %d is not an nl_sum", (int)p->sum);
    const nl_layer *l = &nl_layers[p->op];
    if (p->pass == NL_INFERENCE && !l->running)
        return fail(NL_BAD_ARGUMENT, "%s keeps no running statistics: inference is forward",
                    nl_op_name(p->op));
    if (p->c == 0 || p->s == 0)
        return fail(NL_BAD_ARGUMENT, "c = %zu, s = %zu: both must be at least 1", p->c, p->s);
    if (p->s != 1 && !l->channels_first)
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
    if (l->running && !(p->momentum >= 0 && p->momentum <= 1))
        return fail(NL_BAD_ARGUMENT, "momentum = %g, the weight of the new value, is not in [0, 1]",
                    (double)p->momentum);
    if (l->running && p->pass != NL_INFERENCE && nl_group_size(p) == 1)
        return fail(NL_BAD_ARGUMENT,
                    "%s training needs more than one value a channel: "
                    "n * s is 1 (use NL_INFERENCE, or a larger batch)",
                    nl_op_name(p->op));
    if (!packed || p->inner) {
        const nl_status status = check_strides(p);
        if (status != NL_OK) return status;
    }
    if (threads < 1) return fail(NL_BAD_ARGUMENT, "threads = %d must be at least 1", threads);
    if (!*impl) {
        *impl = nl_best(p, threads);
        if (*impl) return NL_OK;
        return fail(NL_UNSUPPORTED, "no implementation takes %s %s in %s", nl_op_name(p->op),
                    nl_pass_name(p->pass), nl_dtype_name(p->dtype));
    }
    if ((*impl)->c_max && p->c > (*impl)->c_max)
        return fail(NL_UNSUPPORTED, "%s@%s takes c up to %zu, and c is %zu", (*impl)->name,
                    (*impl)->isa, (*impl)->c_max, p->c);
    if (!(*impl)->strided && !packed)
        return fail(NL_UNSUPPORTED, "%s takes only rows that follow each other: no strides",
                    (*impl)->name);
    if (!nl_accepts(*impl, p))
        return fail(NL_UNSUPPORTED, "%s does not take %s %s in %s", (*impl)->name,
                    nl_op_name(p->op), nl_pass_name(p->pass), nl_dtype_name(p->dtype));
    if (!nl_isa_runs((*impl)->isa))
        return fail(NL_UNSUPPORTED, "%s needs %s, which this processor lacks", (*impl)->name,
                    (*impl)->isa);
    return NL_OK;
}

typedef struct call {
    const nl_impl *impl;
    const nl_problem *p; /* after prepare() its parameters are floats */
    bool named, packed;
    size_t scratch_bytes;
    void *allocated;
    float *parameters; /* the converted parameters; NULL: they are floats already */
    nl_plan plan;
    nl_fork fork;
    nl_rows rows;
    nl_problem floats, in_place;
} call;

/* In place, a store's line has just been read: streaming would save nothing. */
static nl_status begin(call *k, const nl_impl *impl, const nl_problem *p, int threads,
                       bool in_place) {
    if (in_place && (p->stores == NL_STORES_AUTO || p->stores == NL_STORES_CACHED)) {
        k->in_place = *p, k->in_place.stores = NL_STORES_IN_PLACE;
        p = &k->in_place;
    }
    k->p = p, k->named = impl, k->packed = nl_is_packed(p);
    const nl_status status = check_problem(p, &impl, threads, k->packed);
    if (status != NL_OK) return status;
    k->impl = impl, k->scratch_bytes = nl_scratch_bytes(impl, p);
    return NL_OK;
}

static nl_status allocate(call *k) {
    const size_t bytes = k->scratch_bytes;
    if (bytes < SIZE_MAX - 63) k->allocated = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (k->allocated) return NL_OK;
    return fail(NL_OUT_OF_MEMORY, "no %zu bytes of scratch for %s", bytes, k->impl->name);
}

/* Allocates scratch if the caller gave none, switches to float parameters, and plans the call. */
NL_INLINE nl_status prepare(call *k, void **scratch, int threads) {
    k->allocated = NULL, k->parameters = NULL;
    if (k->scratch_bytes && !*scratch) {
        const nl_status status = allocate(k);
        if (status != NL_OK) return status;
        *scratch = k->allocated;
    }
    if (k->p->parameters != NL_F32) {
        k->parameters = nl_parameter_room(k->impl, k->p, *scratch);
        k->p = nl_in_floats(&k->floats, k->p);
    }
    nl_make_plan(&k->plan, k->impl, k->p, threads);
    k->fork = (nl_fork){.threads = k->plan.threads};
    if (!k->named && k->fork.threads > 1) nl_fork_begin(&k->fork, k->p);
    if (!k->packed) k->rows = nl_rows_of(k->p), k->plan.rows = &k->rows;
    return NL_OK;
}

NL_INLINE void end(const call *k) {
    nl_fork_end(&k->fork);
    free(k->allocated);
}

nl_status nl_forward(const nl_impl *impl, const nl_problem *p, const nl_forward_args *args,
                     int threads) {
    if (!p || !args) return fail(NL_BAD_ARGUMENT, "the problem or its arguments are NULL");
    if (p->pass == NL_BACKWARD)
        return fail(NL_BAD_ARGUMENT, "nl_forward was given a backward problem: use nl_backward");
    call k;
    nl_status status = begin(&k, impl, p, threads, args->y == args->x);
    if (status != NL_OK) return status;

    nl_forward_args a = *args;
    const void *const at[BUFFERS] = {[NL_X] = a.x,
                                     [NL_RESIDUAL] = a.residual,
                                     [NL_DY] = NULL,
                                     [NL_GAMMA] = a.gamma,
                                     [NL_BETA] = a.beta,
                                     [NL_MEAN] = a.mean,
                                     [NL_RSTD] = a.rstd,
                                     [NL_RUNNING_MEAN] = a.running_mean,
                                     [NL_RUNNING_VAR] = a.running_var,
                                     [NL_Y] = a.y,
                                     [NL_RESIDUAL_OUT] = a.residual_out,
                                     [NL_DX] = NULL,
                                     [NL_DGAMMA] = NULL,
                                     [NL_DBETA] = NULL,
                                     [NL_GATE] = a.gate,
                                     [NL_DGATE] = NULL,
                                     [SCRATCH] = k.scratch_bytes ? a.scratch : NULL};
    status = check_buffers(p, at, k.scratch_bytes, k.packed);
    if (status != NL_OK || !p->n) return status;
    status = prepare(&k, &a.scratch, threads);
    if (status != NL_OK) return status;
    if (k.parameters) nl_parameters_in(p, k.parameters, &a.gamma, &a.beta);
    a.plan = &k.plan;
    k.impl->forward(k.p, &a, k.fork.threads);
    end(&k);
    return NL_OK;
}

nl_status nl_backward(const nl_impl *impl, const nl_problem *p, const nl_backward_args *args,
                      int threads) {
    if (!p || !args) return fail(NL_BAD_ARGUMENT, "the problem or its arguments are NULL");
    if (p->pass != NL_BACKWARD)
        return fail(NL_BAD_ARGUMENT, "nl_backward was given a %s problem: use nl_forward",
                    (unsigned)p->pass < NL_PASSES ? nl_pass_name(p->pass) : "nonsensical");
    call k;
    const bool in_place = args->dx == args->dy || args->dx == args->dresidual;
    nl_status status = begin(&k, impl, p, threads, in_place);
    if (status != NL_OK) return status;

    nl_backward_args a = *args;
    const void *const at[BUFFERS] = {[NL_X] = a.x,
                                     [NL_RESIDUAL] = a.dresidual,
                                     [NL_DY] = a.dy,
                                     [NL_GAMMA] = a.gamma,
                                     [NL_BETA] = NULL,
                                     [NL_MEAN] = a.mean,
                                     [NL_RSTD] = a.rstd,
                                     [NL_RUNNING_MEAN] = NULL,
                                     [NL_RUNNING_VAR] = NULL,
                                     [NL_Y] = NULL,
                                     [NL_RESIDUAL_OUT] = NULL,
                                     [NL_DX] = a.dx,
                                     [NL_DGAMMA] = a.dgamma,
                                     [NL_DBETA] = a.dbeta,
                                     [NL_GATE] = a.gate,
                                     [NL_DGATE] = a.dgate,
                                     [SCRATCH] = k.scratch_bytes ? a.scratch : NULL};
    status = check_buffers(p, at, k.scratch_bytes, k.packed);
    if (status != NL_OK || !p->n) return status;
    status = prepare(&k, &a.scratch, threads);
    if (status != NL_OK) return status;
    if (k.parameters) {
        nl_parameters_in(p, k.parameters, &a.gamma, NULL);
        nl_gradients_room(p, k.parameters, &a.dgamma, &a.dbeta);
    }
    a.plan = &k.plan;
    k.impl->backward(k.p, &a, k.fork.threads);
    if (k.parameters) nl_gradients_out(p, k.parameters, args->dgamma, args->dbeta);
    end(&k);
    return NL_OK;
}
