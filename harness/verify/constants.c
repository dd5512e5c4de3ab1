/* SPDX-License-Identifier: MIT */
#include "verify/constants.h"

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

const char *constants_name(const char *copies, const char *address) {
    if (!copies || address < copies || address >= copies + page_bytes()) return NULL;
    return address < copies + ARGS ? "problem" : "arguments";
}
