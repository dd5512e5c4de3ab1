/* Other libraries' layers in the table of implementations, and code that the peers share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernel.h"

/* Each function loads a library and adds the library's layers on this processor. note() shows
 * messages, now and whenever a call fails. */
void ggml_register(void (*note)(const char *text));
void libxsmm_register(void (*note)(const char *text));
void onednn_register(void (*note)(const char *text));
void onnxruntime_register(void (*note)(const char *text));
void torch_register(void (*note)(const char *text));

/* Does the process have only one OpenMP runtime? Two runtimes disturb each other, so a peer that
 * loads a second runtime is left out, with a note. */
bool one_openmp_runtime(const char *peer, void (*note)(const char *text));

/* x + residual of `count` elements that start at `at`, rounded if p->sum is NL_SUM_ROUNDED; also
 * stores residual_out. */
NL_INLINE void peer_sum(const nl_problem *p, const nl_forward_args *a, size_t at, size_t count,
                        float *sum) {
    for (size_t i = 0; i < count; i++) {
        sum[i] = nl_load(p->dtype, a->x, at + i) + nl_load(p->dtype, a->residual, at + i);
        if (a->residual_out) nl_store(p->dtype, a->residual_out, at + i, sum[i]);
        if (p->sum == NL_SUM_ROUNDED) sum[i] = nl_round(p->dtype, sum[i]);
    }
}

/* Applies gain and shift to a rounded y, because no peer can cast before the weight. */
NL_INLINE void peer_scale(const nl_problem *p, const nl_forward_args *a) {
    const nl_view v = {.t = p->dtype, .gamma = a->gamma, .beta = a->beta, .y = a->y};
    for (size_t i = 0; i < p->n * p->c * p->s; i++)
        nl_put(v, i, i / p->s % p->c, nl_load(p->dtype, a->y, i));
}
