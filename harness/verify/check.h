/* Verifies the implementations of one case, each twice: with guard pages at the ends of its
 * buffers, then at their starts. SPDX-License-Identifier: MIT */
#ifndef NL_CHECK_H
#define NL_CHECK_H

#include "verify/verify.h"

/* Threads, and callbacks, to which the context is passed. */
typedef struct check_settings {
    int threads;
    bool model; /* also verify a model's own output, where the data have one */
    void *context;
    bool (*selects)(void *context, const nl_impl *impl, const nl_case *c);
    /* Gets the verdict on both calls; impl NULL: on a model's own output. */
    void (*judged)(void *context, const nl_case *c, const nl_impl *impl, const verdict *v);
    /* Gets the verdict on each of the two calls; or NULL. False: out of memory. */
    bool (*noted)(void *context, const nl_case *c, const nl_impl *impl, const verdict *v);
} check_settings;

/* False: error says why. */
bool check_case(const nl_case *c, const check_settings *o, char *error, size_t error_size);

#endif
