/* Calls an implementation once more, isolated, to look at its outputs.
 * SPDX-License-Identifier: MIT */
#ifndef NL_EXAMINE_H
#define NL_EXAMINE_H

#include "verify/instance.h"

/* How to call: the number of threads, and the byte that fills outputs and scratch before the call;
 * a check uses 0xff. */
typedef struct examination {
    int threads;
    unsigned char outputs, scratch;
} examination;

/* Lends the instance to `look` after the call. False: out of memory, or the call failed. */
bool examine(const nl_case *c, const nl_data *data, const nl_impl *impl, examination how,
             void (*look)(void *context, const instance *in), void *context);

#endif
