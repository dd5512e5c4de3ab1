/* SPDX-License-Identifier: MIT */
#include "verify/batch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most elements of a case, and the most rows that are computed alone. */
enum { MOST = 40000, ROWS = 12, LINE = 64 };

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

/* Rows [first, first + n), `turn` elements off a cache line. False: out of memory. */
static bool take(portion *of, const pair_call *s, size_t first, size_t n, size_t turn) {
    const nl_problem *p = &s->in->c->problem;
    *of = (portion){.c = *s->in->c, .in = *s->in};
    of->in.c = &of->c, of->in.scratch = NULL;
    of->c.problem.n = n, of->c.problem.stores = (nl_stores)(turn % 3);
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!s->in->at[a]) continue;
        const size_t each = stride(p, a), bytes = each ? n * each : nl_bytes(p, nl_args[a].extent);
        const size_t skew =
            nl_args[a].extent == NL_TENSOR ? nl_dtype_size(p->dtype) : sizeof(float);
        of->memory[a] = aligned_alloc(LINE, (bytes / LINE + 2) * LINE);
        if (!of->memory[a]) return false;
        of->in.at[a] = (char *)of->memory[a] + turn % (LINE / sizeof(float)) * skew;
        memcpy(of->in.at[a], (char *)s->in->at[a] + first * each, bytes);
    }
    return true;
}

/* The first number of the rows that differs; SIZE_MAX: there is none. Which NaN comes out is up to
 * the order of an operation's operands, and so to the compiler. */
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

/* False: the rows have other bits, as `how` describes. */
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
    const size_t n = s->in->c->problem.n, rows = n < ROWS ? n : ROWS;
    *how = '\0';
    for (size_t k = 0; k < rows; k++)
        if (!same(s, k * (n - 1) / (rows - 1), 1, k, 1, how, size)) return;
    same(s, n / 3, n - n / 3, 5, s->threads, how, size);
}
