/* SPDX-License-Identifier: MIT */
#include "verify/constants.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARGS = 512 }; /* offset of the arguments, after the problem */
_Static_assert(sizeof(nl_problem) <= ARGS, "the problem would reach into the arguments");

static char *page;
static nl_impl own; /* the implementation whose kernel is called */

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Returns the copy of the problem; the arguments follow. */
static const nl_problem *copy(const nl_problem *p, const void *args, size_t bytes) {
    if (memcmp(page, p, sizeof *p) == 0 && memcmp(page + ARGS, args, bytes) == 0)
        return (const nl_problem *)page; /* the copies are right already */
    mprotect(page, page_bytes(), PROT_READ | PROT_WRITE);
    memcpy(page, p, sizeof *p);
    memcpy(page + ARGS, args, bytes);
    mprotect(page, page_bytes(), PROT_READ);
    return (const nl_problem *)page;
}

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    p = copy(p, a, sizeof *a);
    own.forward(p, (const nl_forward_args *)(page + ARGS), threads);
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    p = copy(p, a, sizeof *a);
    own.backward(p, (const nl_backward_args *)(page + ARGS), threads);
}

char *constants_guard(nl_impl *impl) {
    if (!page) page = mmap(NULL, page_bytes(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return page = NULL;
    own = *impl;
    if (impl->forward) impl->forward = forward;
    if (impl->backward) impl->backward = backward;
    return page;
}

const nl_impl *constants_unguarded(void) {
    return &own;
}

typedef struct field {
    const char *name;
    size_t at;
} field;

#define P(f) \
    { #f, offsetof(nl_problem, f) }
#define F(f) \
    { #f, offsetof(nl_forward_args, f) }
#define B(f) \
    { #f, offsetof(nl_backward_args, f) }
static const field problem[] =
    {P(op),     P(pass),       P(dtype), P(casting),  P(n),
     P(c),      P(s),          P(eps),   P(momentum), P(biased_running_var),
     P(stores), P(parameters), P(sum),   P(inner),    {"strides", offsetof(nl_problem, x_stride)}};
static const field forward_args[] =
    {F(x),    F(residual), F(gate),         F(gamma),       F(beta),    F(y),   F(residual_out),
     F(mean), F(rstd),     F(running_mean), F(running_var), F(scratch), F(plan)};
static const field backward_args[] = {B(x),     B(dy),      B(dresidual), B(gate),  B(gamma),
                                      B(mean),  B(rstd),    B(dx),        B(dgate), B(dgamma),
                                      B(dbeta), B(scratch), B(plan)};

bool constants_name(nl_pass pass, const char *copies, const char *address, char *text,
                    size_t size) {
    if (!copies || address < copies || address >= copies + page_bytes()) return false;
    const bool args = address >= copies + ARGS, back = pass == NL_BACKWARD;
    const size_t at = (size_t)(address - copies) - (args ? ARGS : 0);
    const field *f = !args ? problem : back ? backward_args : forward_args;
    const size_t count = !args  ? sizeof problem / sizeof *f
                         : back ? sizeof backward_args / sizeof *f
                                : sizeof forward_args / sizeof *f;
    size_t i = 0;
    while (i + 1 < count && f[i + 1].at <= at) i++;
    snprintf(text, size, "%s of its %s", f[i].name, args ? "arguments" : "problem");
    return true;
}
