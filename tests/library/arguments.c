/* For every bad argument nl_forward and nl_backward write nothing, return a status, and set a
 * message that names the argument. The tests follow the table jobs[], which has the arguments of
 * each layer. SPDX-License-Identifier: MIT */
#include "jobs.h"
#include "layer.h"

#include <stdio.h>

enum { REGION = 16384 };

/* A call. Every buffer is in the middle of its own region. */
typedef struct call {
    const struct job *job;
    const nl_impl *impl;
    nl_problem p;
    int threads, count;
    const char *const *names;
    union { /* the same pointers, by number and by name */
        void *at[POINTERS];
        nl_forward_args forward;
        nl_backward_args backward;
    };
} call;
static _Alignas(64) unsigned char arena[POINTERS * REGION], before[sizeof arena];

static unsigned char *region(int i) {
    return arena + i * REGION + REGION / 2;
}

static size_t bytes(const call *k, int i) {
    const nl_problem *p = &k->p;
    if (has_word("scratch", k->names[i])) return nl_scratch_bytes(k->impl, p);
    if (has_word("x residual gate dy dresidual y residual_out dx dgate", k->names[i]))
        return p->n * p->c * p->s * nl_dtype_bytes(p->dtype);
    bool by_row = p->op != NL_BATCHNORM && has_word("mean rstd", k->names[i]);
    return (by_row ? p->n : p->c) * sizeof(float);
}

/* A valid call with all pointers that the layer accepts. impl NULL: nl_best(). */
static call good(const struct job *job, const nl_impl *impl) {
    call k = {.job = job, .impl = impl, .threads = 1};
    k.p = (nl_problem){.op = job->op, .pass = job->pass, .n = 4, .c = 8, .s = 1};
    k.p.eps = 1e-5f, k.p.momentum = 0.1f;
    if (!impl) k.impl = nl_best(&k.p, 1);
    k.count = POINTERS;
    k.names = pointers[job->pass == NL_BACKWARD];
    for (int i = 0; i < k.count; i++) {
        if (bytes(&k, i) > REGION / 4) cr_assert_fail("REGION is too small for %s", k.impl->name);
        if (may_have(job, k.names[i]) && bytes(&k, i)) k.at[i] = region(i);
    }
    for (size_t i = 0; i < sizeof arena; i++) before[i] = (unsigned char)(0x30 + i * 7 % 16);
    return k;
}

/* The message of a failure must contain `culprit` or `alias`. A refused call and an empty batch
 * must not write a byte. */
static void expect(const call *k, nl_status want, const char *culprit, const char *alias) {
    memcpy(arena, before, sizeof arena);
    nl_forward(NULL, NULL, NULL, 1); /* replaces an old message, which might match */
    nl_status got = k->job->pass == NL_BACKWARD
                        ? nl_backward(k->impl, &k->p, &k->backward, k->threads)
                        : nl_forward(k->impl, &k->p, &k->forward, k->threads);
    const char *said = nl_message();
    bool named = has_word(said, culprit) || (alias && has_word(said, alias));
    bool touched = (want != NL_OK || !k->p.n) && memcmp(arena, before, sizeof arena);
    if (got != want || touched || (want != NL_OK && !named))
        cr_assert_fail("%s, %s %s, %s: status %d, expected %d%s; message \"%s\"", culprit,
                       nl_op_name(k->job->op), nl_pass_name(k->job->pass),
                       k->impl ? k->impl->name : "best", got, want,
                       touched ? ", something was written" : "", said);
}

Test(arguments, pointers) {
    for (const struct job *job = jobs; job < jobs + JOBS; job++) {
        call all = good(job, NULL), least = all;
        expect(&all, NL_OK, "everything", NULL);
        for (int i = 0; i < all.count; i++) {
            call k = all;
            const char *name = k.names[i];
            bool optional = has_word(job->takes, name);
            k.at[i] = may_have(job, name) ? NULL : region(i);
            expect(&k, optional ? NL_OK : NL_BAD_ARGUMENT, name, NULL);
            if (optional || has_word("residual running_mean running_var", name)) least.at[i] = NULL;
        }
        bool reads = job->pass == NL_INFERENCE; /* training does not need the running statistics */
        expect(&least, reads ? NL_BAD_ARGUMENT : NL_OK, "running_mean", "running_var");
    }
    nl_problem p = good(&jobs[0], NULL).p, q = good(&jobs[2], NULL).p;
    bool refused = nl_forward(NULL, NULL, &(nl_forward_args){0}, 1) == NL_BAD_ARGUMENT &&
                   nl_forward(NULL, &p, NULL, 1) == NL_BAD_ARGUMENT &&
                   nl_backward(NULL, NULL, &(nl_backward_args){0}, 1) == NL_BAD_ARGUMENT &&
                   nl_backward(NULL, &q, NULL, 1) == NL_BAD_ARGUMENT;
    cr_assert(refused && has_word(nl_message(), "NULL"), "a NULL problem or NULL arguments: \"%s\"",
              nl_message());
}

enum { BATCH = NL_BIT(NL_BATCHNORM), ALL = NL_BIT(NL_OPS) - 1, ROWS = ALL - BATCH };
enum {
    FORWARD = NL_BIT(NL_FORWARD),
    BACKWARD = NL_BIT(NL_BACKWARD),
    EVERY = NL_BIT(NL_PASSES) - 1
};
enum { OP, PASS, DTYPE, CASTING, STORES, N, C, S, EPS, MOMENTUM, THREADS };

/* Bad values of the problem's fields, for some layers and passes, and the name in the message. */
static const struct bad {
    const char *culprit;
    unsigned ops, passes;
    int field, count;
    float values[3];
} bads[] = {
    {"op", ALL, EVERY, OP, 2, {NL_OPS, -1}},
    {"pass", ALL, EVERY - BACKWARD, PASS, 2, {NL_PASSES, -1}},
    {"nl_backward", ALL, EVERY - BACKWARD, PASS, 1, {NL_BACKWARD}},
    {"nl_forward", ALL, BACKWARD, PASS, 3, {NL_FORWARD, NL_INFERENCE, NL_PASSES}},
    {"inference", ROWS, FORWARD, PASS, 1, {NL_INFERENCE}},
    {"dtype", ALL, EVERY, DTYPE, 2, {NL_DTYPES, -1}},
    {"casting", ALL, EVERY, CASTING, 2, {2, -1}},
    {"stores", ALL, EVERY, STORES, 2, {NL_STORES_IN_PLACE + 1, -1}},
    {"n", BATCH, FORWARD + BACKWARD, N, 1, {1}},
    {"c", ALL, EVERY, C, 1, {0}},
    {"s", ALL, EVERY, S, 1, {0}},
    {"s", ROWS, EVERY, S, 2, {2, 0x1p61f}},
    {"overflows", ALL, EVERY, N, 2, {0x1p61f, 0x1p63f}},
    {"overflows", ALL, EVERY, C, 2, {0x1p62f, 0x1p63f}},
    {"overflows", BATCH, EVERY, S, 2, {0x1p59f, 0x1p61f}},
    {"eps", ALL, EVERY, EPS, 3, {-0x1p-149f, NAN, INFINITY}},
    {"momentum", BATCH, EVERY, MOMENTUM, 3, {-0.1f, 1.1f, NAN}},
    {"threads", ALL, EVERY, THREADS, 2, {0, -1}},
};

static void set(call *k, int field, float v) {
    switch (field) {
    case OP: k->p.op = (nl_op)(int)v; break;
    case PASS: k->p.pass = (nl_pass)(int)v; break;
    case DTYPE: k->p.dtype = (nl_dtype)(int)v; break;
    case CASTING: k->p.casting = (nl_casting)(int)v; break;
    case STORES: k->p.stores = (nl_stores)(int)v; break;
    case N: k->p.n = (size_t)v; break;
    case C: k->p.c = (size_t)v; break;
    case S: k->p.s = (size_t)v; break;
    case EPS: k->p.eps = v; break;
    case MOMENTUM: k->p.momentum = v; break;
    case THREADS: k->threads = (int)v; break;
    }
}

Test(arguments, numbers) {
    for (const struct bad *b = bads; b < bads + sizeof bads / sizeof *bads; b++)
        for (int i = 0; i < JOBS * b->count; i++) {
            call k = good(&jobs[i % JOBS], NULL);
            if (!(b->ops & NL_BIT(k.p.op)) || !(b->passes & NL_BIT(k.p.pass))) continue;
            set(&k, b->field, b->values[i / JOBS]);
            expect(&k, NL_BAD_ARGUMENT, b->culprit, NULL);
            k.impl = NULL;
            expect(&k, NL_BAD_ARGUMENT, b->culprit, NULL);
        }
    call one = good(&jobs[1], NULL);
    one.p.n = 1, one.p.momentum = 1, one.p.eps = 0;
    expect(&one, NL_OK, "inference with n * s = 1", NULL);
}

/* Lets allocations fail with AddressSanitizer, too. Weak, because another file defines it, too. */
__attribute__((weak)) const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

static size_t too_much(const nl_problem *p) {
    return p ? SIZE_MAX / 2 : 0;
}

/* Calls an implementation that does not accept the problem, or that needs too much memory. */
Test(arguments, unsupported) {
    for (int i = 0; i < JOBS * 5; i++) {
        call k = good(&jobs[i / 5], NULL);
        nl_impl lacking = *k.impl;
        k.impl = &lacking;
        switch (i % 5) {
        case 0: lacking.isa = "none"; break;
        case 1: lacking.ops &= ~NL_BIT(k.p.op); break;
        case 2: lacking.passes &= ~NL_BIT(k.p.pass); break;
        case 3: lacking.dtypes &= ~NL_BIT(NL_F32); break;
        case 4: lacking.scratch = too_much, k.at[k.count - 1] = NULL; break;
        }
        nl_status want = i % 5 == 4 ? NL_OUT_OF_MEMORY : NL_UNSUPPORTED;
        expect(&k, want, i % 5 ? lacking.name : "none", NULL);
    }
}

/* An empty batch needs no pointers. */
Test(arguments, empty) {
    for (int i = 0; i < JOBS * 2; i++) {
        call k = good(&jobs[i / 2], NULL);
        if (i & 1) memset(k.at, 0, sizeof k.at);
        k.p.n = 0;
        expect(&k, NL_OK, i & 1 ? "n = 0, all NULL" : "n = 0", NULL);
    }
}

/* Moves every pointer by less than its alignment: an element, or 64 bytes of scratch. */
Test(arguments, alignment) {
    for (int i = 0; i < JOBS * NL_DTYPES; i++) {
        call all = good(&jobs[i / NL_DTYPES], NULL);
        all.p.dtype = (nl_dtype)(i % NL_DTYPES), all.impl = nl_best(&all.p, 1);
        for (int b = 0; b < all.count; b++) {
            const char *name = all.names[b];
            bool scratch = has_word("scratch", name);
            bool tensor = has_word("x residual gate dy dresidual y residual_out dx dgate", name);
            size_t align = scratch ? 64 : tensor ? nl_dtype_bytes(all.p.dtype) : sizeof(float);
            for (size_t off = 1; all.at[b] && off <= 64; off += off < 4 ? 1 : off) {
                call k = all;
                k.at[b] = region(b) + off;
                if (scratch && !bytes(&k, b)) continue;
                expect(&k, off % align ? NL_BAD_ARGUMENT : NL_OK, name, NULL);
            }
        }
    }
}

/* May output a alias input b exactly? */
static bool may_replace(const call *k, int a, int b) {
    const char *y = k->names[a], *x = k->names[b];
    return (!strcmp(y, "y") && !strcmp(x, "x")) ||
           (!strcmp(y, "dx") && (!strcmp(x, "dy") || !strcmp(x, "dresidual"))) ||
           (!strcmp(y, "dgate") && !strcmp(x, "gate")) ||
           (!strcmp(y, "residual_out") && !strcmp(x, "residual"));
}

/* Places output a exactly on buffer b, across each end of b, and next to b. */
static void lay(const call *all, int a, int b) {
    ptrdiff_t size_a = (ptrdiff_t)bytes(all, a), size_b = (ptrdiff_t)bytes(all, b);
    ptrdiff_t shifts[] = {0, 4, size_b - 4, 4 - size_a, size_b, -size_a};
    char ab[64], ba[64];
    snprintf(ab, sizeof ab, "%s and %s", all->names[a], all->names[b]);
    snprintf(ba, sizeof ba, "%s and %s", all->names[b], all->names[a]);
    for (int i = 0; i < 6; i++) {
        call k = *all;
        bool beside = i >= 4, right = beside || (i == 0 && may_replace(all, a, b));
        if (a == k.count - 1) shifts[i] = shifts[i] / 64 * 64; /* scratch stays aligned */
        if (beside && a == k.count - 1) continue;
        k.at[a] = region(b) + shifts[i];
        expect(&k, right ? NL_OK : NL_BAD_ARGUMENT, ab, ba);
    }
}

Test(arguments, overlap) {
    for (size_t i = 0; i < nl_impl_count() * JOBS; i++) {
        const nl_impl *impl = nl_impl_at(i / JOBS);
        if (!nl_isa_runs(impl->isa)) continue;
        call k = good(&jobs[i % JOBS], impl);
        if (!nl_accepts(k.impl, &k.p)) continue;
        for (int a = 0; a < k.count; a++)
            for (int b = 0; b < k.count && writes(k.job, k.names[a]); b++)
                if (a != b && k.at[a] && k.at[b]) lay(&k, a, b);
    }
}
