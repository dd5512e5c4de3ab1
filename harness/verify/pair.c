/* SPDX-License-Identifier: MIT */
#include "verify/pair.h"
#include "base/clock.h"
#include "dtype.h"
#include "reference.h"
#include "registry.h"
#include "verify/constants.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pair runs until OVERLAPS calls of each party have overlapped a call of the other party, but at
 * most for MOST_NS. LEAST, MOST: elements of a case. */
enum { MOST = 40000, LEAST = 16384, OVERLAPS = 10, MOST_NS = 100000000, LINE = 64 };

/* Calls are repeated only for added kernels, on ordinary data. */
static bool is_ordinary(const instance *in) {
    return !nl_is_own(in->impl) && strcmp(in->c->data, "normal") == 0;
}

bool pair_wanted(const instance *in) {
    const nl_problem *p = &in->c->problem;
    const size_t count = p->n * p->c * p->s;
    return !in->c->team && is_ordinary(in) && LEAST <= count && count <= MOST;
}

/* A caller, with buffers of its own. */
typedef struct party {
    const pair_call *s;
    nl_case c;
    instance in;
    void *first[NL_ARGS], *right[NL_ARGS]; /* contents before a call; right contents after it */
    const struct party *beside;
    atomic_int calls, overlaps;
    bool differs;
} party;

/* Memory of whole cache lines, aligned to them. */
static void *room(size_t bytes) {
    return aligned_alloc(LINE, (bytes / LINE + 1) * LINE);
}

static void *copy(const void *from, size_t bytes) {
    void *to = malloc(bytes + 1);
    if (to) memcpy(to, from, bytes);
    return to;
}

/* Returns the first argument with the same buffer: in place, an output has an input's buffer. */
static int owner(const instance *in, int i) {
    int k = 0;
    while (in->at[k] != in->at[i]) k++;
    return k;
}

static bool call_once(party *p) {
    for (int i = 0; i < NL_ARGS; i++)
        if (p->first[i] && p->s->writable[i]) memcpy(p->in.at[i], p->first[i], p->s->bytes[i]);
    return instance_call(&p->in, 1) == NL_OK; /* one thread: the order of sums is fixed */
}

static bool same_as_alone(party *p) {
    if (!call_once(p)) return false;
    for (int i = 0; i < NL_ARGS; i++)
        if (p->right[i] && memcmp(p->in.at[i], p->right[i], p->s->bytes[i]) != 0) return false;
    return true;
}

/* Halves the features, if buffers and scratch suffice: shows whether a kernel remembers a shape. */
static void halve(party *p) {
    nl_problem half = p->c.problem;
    half.c = half.c / 2 + 1;
    if (half.c < p->c.problem.c && nl_scratch_bytes(p->in.impl, &half) <= p->in.scratch_bytes)
        p->c.problem = half;
}

/* Makes two calls, one after the other. other: changes the signs of x, and halves the features.
 * False: out of memory, or the two calls differ. */
static bool begin(party *p, const pair_call *s, bool other) {
    const size_t size = s->in->c->problem.dtype == NL_F32 ? 4 : 2;
    bool ok = true;
    *p = (party){.s = s, .c = *s->in->c, .in = *s->in};
    p->in.c = &p->c, p->in.impl = constants_unguarded();
    if (other) halve(p);
    if (s->in->scratch) ok = (p->in.scratch = room(s->in->scratch_bytes));
    for (int i = 0; i < NL_ARGS; i++) {
        if (!s->in->at[i]) continue;
        const int first = owner(s->in, i);
        p->in.at[i] = first < i ? p->in.at[first] : room(s->bytes[i]);
        if (first < i) continue;
        p->first[i] = copy(s->in->at[i], s->bytes[i]);
        ok = ok && p->first[i] && p->in.at[i];
        for (size_t k = size - 1; ok && other && i == NL_X && k < s->bytes[i]; k += size)
            ((unsigned char *)p->first[i])[k] ^= 0x80;
        if (ok) memcpy(p->in.at[i], p->first[i], s->bytes[i]);
    }
    ok = ok && call_once(p);
    for (int i = 0; ok && i < NL_ARGS; i++)
        if (p->first[i]) ok = (p->right[i] = copy(p->in.at[i], s->bytes[i]));
    return ok && same_as_alone(p);
}

static void end(party *p) {
    for (int i = 0; i < NL_ARGS; i++) {
        free(p->first[i]), free(p->right[i]);
        if (p->s->in->at[i] && owner(p->s->in, i) == i) free(p->in.at[i]);
    }
    if (p->s->in->scratch) free(p->in.scratch);
}

static void *go_on(void *context) {
    party *p = context;
    const double until = clock_ns() + MOST_NS;
    while (!p->differs && clock_ns() < until &&
           (p->overlaps < OVERLAPS || p->beside->overlaps < OVERLAPS)) {
        const int before = p->beside->calls;
        p->differs = !same_as_alone(p), p->calls++;
        p->overlaps += p->beside->calls != before;
    }
    return NULL;
}

bool pair_agrees(const pair_call *s) {
    static party one, other;
    pthread_t thread;
    const bool first = begin(&one, s, false), second = begin(&other, s, true);
    one.beside = &other, other.beside = &one;
    if (first && second && pthread_create(&thread, NULL, go_on, &other) == 0) {
        go_on(&one);
        pthread_join(thread, NULL);
    }
    end(&one), end(&other);
    return !one.differs && !other.differs;
}

/* False if a call overwrites an input, because nothing could restore the input. */
bool pair_again_wanted(const instance *in) {
    bool again = is_ordinary(in);
    for (nl_arg i = 0; i < NL_ARGS; i++) again = again && !instance_consumes(in, i);
    return again;
}

bool pair_repeat_wanted(const instance *in, int threads) {
    const char *options = in->c->text + in->c->options;
    const bool plain = !*options || (strncmp(options, "threads=", 8) == 0 && !strchr(options, '/'));
    return in->impl->threaded && threads > 1 && plain && pair_again_wanted(in);
}

bool pair_stale_wanted(const instance *in) {
    const nl_problem *p = &in->c->problem;
    return is_ordinary(in) && p->n * p->c * p->s <= MOST;
}

/* Doubles or halves the number in the middle of each part, by the lowest bit of its exponent. */
static void change_middles(void *array, size_t bytes, nl_dtype t, size_t parts) {
    const size_t size = nl_dtype_size(t), count = bytes / size;
    const uint32_t lowest = 1u << (ref_formats[t].bits - 1);
    for (size_t k = 0; k < parts && count >= parts; k++) {
        char *at = (char *)array + count * (2 * k + 1) / (2 * parts) * size;
        for (size_t i = 0; i < size; i++) at[i] ^= (char)(lowest >> 8 * i);
    }
}

void pair_stale(const pair_call *s, void (*allow)(const instance *in, bool write)) {
    const instance *in = s->in;
    const nl_problem *p = &in->c->problem;
    void *before[NL_ARGS] = {NULL};
    bool ok = true;
    allow(in, true);
    for (int i = 0; i < NL_ARGS; i++)
        if (in->at[i] && owner(in, i) == i) ok = (before[i] = copy(in->at[i], s->bytes[i])) && ok;
    for (nl_arg i = 0; i < NL_ARGS; i++)
        if (before[i])
            change_middles(in->at[i], s->bytes[i], data_type(p, i),
                           nl_args[i].extent == NL_TENSOR ? p->n : 1);
    allow(in, false);
    if (ok) instance_call(in, s->threads);
    allow(in, true);
    for (int i = 0; i < NL_ARGS; i++) {
        if (before[i]) memcpy(in->at[i], before[i], s->bytes[i]);
        free(before[i]);
    }
    allow(in, false);
    if (in->scratch) memset(in->scratch, in->scratch_byte, in->scratch_bytes);
}

void pair_repeat(const pair_call *s) {
    enum { CALLS = 100, MOMENT_NS = 50000000 };
    const double until = clock_ns() + MOMENT_NS;
    nl_case c = *s->in->c;
    instance in = *s->in;
    void *first[NL_ARGS] = {NULL};
    bool same = true;
    in.c = &c;
    for (int i = 0; i < NL_ARGS; i++)
        if (in.at[i] && s->writable[i]) same = (first[i] = copy(in.at[i], s->bytes[i])) && same;
    for (int k = 0; same && k < CALLS && clock_ns() < until; k++) {
        for (int i = 0; i < NL_ARGS; i++)
            if (first[i]) memset(in.at[i], in.unset, s->bytes[i]);
        if (in.scratch) memset(in.scratch, in.scratch_byte, in.scratch_bytes);
        same = instance_call(&in, s->threads) == NL_OK;
        for (int i = 0; same && i < NL_ARGS; i++)
            if (first[i]) same = memcmp(in.at[i], first[i], s->bytes[i]) == 0;
    }
    for (int i = 0; i < NL_ARGS; i++) free(first[i]);
}

/* Some rows of a batch, in buffers of their own. */
typedef struct portion {
    nl_case c;
    instance in;
    void *memory[NL_ARGS];
} portion;

bool batch_shows(const nl_case *c) {
    const nl_problem *p = &c->problem;
    return !nl_layers[p->op].by_channel && p->n > 1 && p->n * p->c * p->s <= MOST &&
           nl_is_packed(p) && !c->in_place && !c->team && strcmp(c->data, "normal") == 0;
}

/* Bytes of an argument for each row; 0: all rows share the argument. */
static size_t stride(const nl_problem *p, nl_arg a) {
    const bool tensor = nl_args[a].extent == NL_TENSOR;
    if (!tensor && nl_args[a].extent != NL_GROUPS) return 0;
    return nl_bytes(p, nl_args[a].extent) / p->n;
}

static void release(portion *of) {
    for (nl_arg a = 0; a < NL_ARGS; a++) free(of->memory[a]);
}

/* Copies the n rows from `first` on, `turn` elements off a cache line. False: out of memory. */
static bool take(portion *of, const pair_call *s, size_t first, size_t n, size_t turn) {
    const nl_problem *p = &s->in->c->problem;
    *of = (portion){.c = *s->in->c, .in = *s->in};
    of->in.c = &of->c, of->in.scratch = NULL;
    nl_problem *own = &of->c.problem;
    own->n = n, own->stores = (nl_stores)(turn % (NL_STORES_IN_PLACE + 1));
    own->inner = 0; /* the rows are packed, and inner need not divide n */
    own->x_stride = own->residual_stride = own->y_stride = own->residual_out_stride =
        own->dy_stride = (nl_stride){0};
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!s->in->at[a]) continue;
        const size_t each = stride(p, a), bytes = each ? n * each : nl_bytes(p, nl_args[a].extent);
        const size_t skew =
            nl_args[a].extent == NL_TENSOR ? nl_dtype_size(p->dtype) : sizeof(float);
        if (!(of->memory[a] = room(bytes + LINE))) return false;
        of->in.at[a] = (char *)of->memory[a] + turn % (LINE / sizeof(float)) * skew;
        memcpy(of->in.at[a], (char *)s->in->at[a] + first * each, bytes);
    }
    return true;
}

/* Returns the index of the first number that differs; SIZE_MAX: there is none. All NaNs are equal:
 * the compiler orders an operation's operands, and the order decides which NaN results. */
static size_t first_other(const portion *of, const pair_call *s, nl_arg a, size_t first) {
    const nl_dtype t = of->c.problem.dtype;
    const size_t size = nl_dtype_size(t), count = of->c.problem.n * of->c.problem.c;
    const char *alone = of->in.at[a],
               *among = (char *)s->in->at[a] + first * of->c.problem.c * size;
    if (memcmp(alone, among, count * size) == 0) return SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if (memcmp(alone + i * size, among + i * size, size) != 0 &&
            !(isnan(nl_load(t, alone, i)) && isnan(nl_load(t, among, i))))
            return i;
    return SIZE_MAX;
}

/* Do these rows have the same bits in a call of their own? False: `how` describes the
 * difference. */
static bool same(const pair_call *s, size_t first, size_t n, size_t turn, int threads, char *how,
                 size_t size) {
    static const nl_arg outputs[] = {NL_Y, NL_DX, NL_DGATE};
    const nl_problem *p = &s->in->c->problem;
    portion of;
    bool ok = take(&of, s, first, n, turn) && instance_call(&of.in, threads) == NL_OK;
    if (!ok) snprintf(how, size, "cannot be called on rows %zu to %zu alone", first, first + n - 1);
    for (size_t k = 0; ok && k < sizeof outputs / sizeof *outputs; k++) {
        const nl_arg a = outputs[k];
        const size_t i = s->in->at[a] ? first_other(&of, s, a, first) : SIZE_MAX;
        ok = i == SIZE_MAX;
        if (!ok)
            snprintf(how, size,
                     "depends on the batch: %s[%zu][%zu] is %.9g among %zu rows, and %.9g among "
                     "rows %zu to %zu alone",
                     nl_args[a].name, first + i / p->c, i % p->c,
                     (double)nl_load(p->dtype, s->in->at[a], first * p->c + i), p->n,
                     (double)nl_load(p->dtype, of.in.at[a], i), first, first + n - 1);
    }
    release(&of);
    return ok;
}

void batch_compare(const pair_call *s, char *how, size_t size) {
    enum { MOST_ALONE = 12 };
    const size_t n = s->in->c->problem.n, rows = n < MOST_ALONE ? n : MOST_ALONE;
    *how = '\0';
    for (size_t k = 0; k < rows; k++)
        if (!same(s, k * (n - 1) / (rows - 1), 1, k, 1, how, size)) return;
    same(s, n / 3, n - n / 3, 5, s->threads, how, size);
}
