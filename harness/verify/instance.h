/* The buffers of one call, each between two guard pages. SPDX-License-Identifier: MIT */
#pragma once

#include "cases/data.h"

#include <stdint.h>

/* Which guard page a buffer touches: the page after its end, or the page before its start. */
typedef enum placement { PLACE_END, PLACE_START } placement;

/* Memory for buffers that a process shares with its children; the children set the guard pages. */
typedef struct arena {
    char *base;
    size_t bytes, used;
} arena;

/* Bytes that fill outputs before a call: they make NaN in every storage type, or numbers. */
enum { UNSET_NAN = 0xff, UNSET_NUMBERS = 0x4b };

typedef struct instance {
    const nl_case *c;
    const nl_data *data;
    const nl_impl *impl;
    void *at[NL_ARGS], *scratch;
    size_t scratch_bytes;
    int scratch_byte; /* the byte that fills scratch */
    int unset;        /* each byte of the outputs before the call */
    void *map[NL_ARGS + 1];
    size_t map_bytes[NL_ARGS + 1];
    arena *shared; /* the arena that owns the memory, or NULL */
} instance;

/* The caller may replace in->impl later by one for which scratch_bytes is enough. */
bool instance_make(const nl_case *c, const nl_data *data, const nl_impl *impl, size_t scratch_bytes,
                   placement where, instance *out);
/* Makes the instance in an arena, from its beginning; instance_room() bytes are enough. */
bool instance_make_in(arena *shared, const nl_case *c, const nl_data *data, const nl_impl *impl,
                      size_t scratch_bytes, placement where, instance *out);
size_t instance_room(const nl_case *c, const nl_data *data, size_t scratch_bytes);
void instance_refill(instance *in); /* restores the inputs; fills the outputs with `unset` */
void instance_fill(instance *in);   /* fills outputs and scratch */
bool instance_consumes(const instance *in, nl_arg s); /* does a call overwrite this input? */
/* The arguments with which instance_call() makes its call. */
nl_forward_args instance_forward_args(const instance *in);
nl_backward_args instance_backward_args(const instance *in);
nl_status instance_call(const instance *in, int threads);
/* A hash of the bits of all arguments. */
uint64_t instance_hash(const instance *in);
void instance_free(instance *in);
