/* Is an implementation right on a case? SPDX-License-Identifier: MIT */
#pragma once

#include "verify/instance.h"
#include "verify/outputs.h"

/* Calls impl on fresh buffers and checks the outputs; survives accesses beside the buffers. */
verdict verify(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               placement where, int threads);

/* Must added kernels keep a row's bits in every batch, as our own promise? Otherwise the verdict only
 * notes that they do not. */
extern bool verify_batches;

/* Checks the outputs of a call; caches the verdict on the last bits. */
verdict verify_result(const instance *in, const answer *a);

/* Checks the output of a model's own LayerNorm (NAME.y.npy) with the bound of two-pass. */
verdict verify_model(const nl_case *c, const nl_data *data, const answer *a);

/* Calls an implementation once more, isolated, to look at its outputs. */

/* How to call: the number of threads, and the byte that fills outputs and scratch before the call;
 * a check uses 0xff. */
typedef struct examination {
    int threads;
    unsigned char outputs, scratch;
} examination;

/* Lends the instance to `look` after the call. False: out of memory, or the call failed. */
bool examine(const nl_case *c, const nl_data *data, const nl_impl *impl, examination how,
             void (*look)(void *context, const instance *in), void *context);

/* The smallest case on which an implementation still fails. */

/* impl failed on *c with *v. Tries smaller sizes, ordinary data and fewer options, for a few
 * seconds at most, and keeps in *c and *v the smallest case that fails in the same way. False: none
 * is smaller. */
bool shrink(nl_case *c, verdict *v, const nl_impl *impl, int threads);
