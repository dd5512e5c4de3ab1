/* The buffers of one call, each between two pages without access. SPDX-License-Identifier: MIT */
#ifndef NL_INSTANCE_H
#define NL_INSTANCE_H

#include "cases/data.h"

/* Where buffers lie: against an inaccessible page behind them, or on a page's start with one before
 * them (and further out behind). */
typedef enum placement { PLACE_END, PLACE_START } placement;

typedef struct instance {
    const nl_case *c;
    const nl_data *data;
    const nl_impl *impl;
    void *at[NL_ARGS], *scratch;
    size_t scratch_bytes;
    void *map[NL_ARGS + 1];
    size_t map_bytes[NL_ARGS + 1];
} instance;

/* impl may be set to another later, if scratch_bytes is enough for it too. */
bool instance_make(const nl_case *c, const nl_data *data, const nl_impl *impl, size_t scratch_bytes,
                   placement where, instance *out);
void instance_fill(instance *in); /* inputs as they were, everything else NaN */
nl_status instance_call(const instance *in, int threads);
void instance_free(instance *in);

#endif
