/* The movers. The build compiles this file once for each ISA, and defines LIMIT_NAME (limit_avx2).
 * vec.h has the vector width and the streaming store. SPDX-License-Identifier: MIT */
#include "timing/limit.h"
#include "vec/vec.h"

/* Plain C has one lane, so it moves 16 bytes per step, which compilers vectorize. */
enum { BYTES = VLEN == 1 ? 16 : (int)sizeof(vf) };
typedef float vec __attribute__((vector_size(BYTES), aligned(4), may_alias));

NL_INLINE void stream(void *p, vec v) {
    vf part[BYTES / sizeof(vf)];
    memcpy(part, &v, sizeof part);
    for (size_t k = 0; k < BYTES / sizeof(vf); k++) vstream(NL_F32, p, k * VLEN, part[k]);
}

/* Adds up the values that it reads; otherwise the compiler would remove the loads. The eight
 * accumulators have names: the compiler would keep an array in memory, which adds stores to the
 * measurement. */
NL_INLINE void read_only(const limit_job *j, limit_ahead ahead) {
    const char *a = j->in[0];
    size_t i = 0;
    vec s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    for (; i + 8 * BYTES <= j->bytes; i += 8 * BYTES) {
        const vec *v = (const vec *)(a + i);
        for (int k = 0; ahead == AHEAD_LINES && k < 8 * BYTES; k += 64)
            __builtin_prefetch(a + i + k + 4096, 0, 2);
        s0 += v[0], s1 += v[1], s2 += v[2], s3 += v[3];
        s4 += v[4], s5 += v[5], s6 += v[6], s7 += v[7];
    }
    for (; i + BYTES <= j->bytes; i += BYTES) s0 += *(const vec *)(a + i);
    s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
    __asm__ volatile("" : : "m"(s0));
}

/* Adds up one vector from each input, and stores one vector to each output. */
NL_INLINE void move_one(const limit_job *j, int reads, int writes, bool streams, size_t at) {
    const char *a = j->in[0], *b = j->in[1], *c = j->in[2];
    char *y = j->out[0], *z = j->out[1];
    const vec one = (vec){0} + 1;
    vec v = reads > 0 ? *(const vec *)(a + at) : one;
    vec w = reads > 1 ? *(const vec *)(b + at) : one;
    if (reads > 2) w += *(const vec *)(c + at);
    if (reads > writes) v += w;
    if (streams) {
        stream(y + at, v);
        if (writes > 1) stream(z + at, w);
    } else {
        *(vec *)(y + at) = v;
        if (writes > 1) *(vec *)(z + at) = w;
    }
}

/* Every call passes constants for all arguments but j, so it compiles to a separate loop. */
NL_INLINE void move(const limit_job *j, int reads, int writes, bool streams, limit_ahead ahead,
                    int unroll) {
    enum { AHEAD = 4096 };
    const size_t step = (size_t)unroll * BYTES, each = ahead == AHEAD_LINES ? step : AHEAD;
    size_t i = 0;
    for (; i + step <= j->bytes; i += step) {
        if (ahead == AHEAD_LINES || (ahead == AHEAD_BLOCKS && i % AHEAD == 0))
            for (size_t k = 0; k < each; k += 64)
                for (int r = 0; r < reads; r++)
                    __builtin_prefetch((const char *)j->in[r] + i + k + AHEAD, 0, 2);
#pragma GCC unroll 8
        for (int k = 0; k < unroll; k++) move_one(j, reads, writes, streams, i + (size_t)k * BYTES);
    }
    for (; i + BYTES <= j->bytes; i += BYTES) move_one(j, reads, writes, streams, i);
    size_t rest = j->bytes - i;
    if (rest == 0) return;
    if (reads > 0)
        memmove((char *)j->out[0] + i, (const char *)j->in[0] + i, rest);
    else
        memset((char *)j->out[0] + i, 1, rest);
    if (writes > 1) memmove((char *)j->out[1] + i, (const char *)j->in[1] + i, rest);
}

/* In place, a streaming store soon after a load of the same line delays the line's other loads. */
NL_INLINE void move_loaded(const limit_job *j, int reads, int writes, bool streams, int unroll) {
    enum { BLOCK = 4096 };
    char kept[2][BLOCK] __attribute__((aligned(64)));
    limit_job load = {.out = {kept[0], kept[1]}}, store = {.in = {kept[0], kept[1]}};
    for (size_t i = 0; i < j->bytes; i += BLOCK) {
        load.bytes = store.bytes = j->bytes - i < BLOCK ? j->bytes - i : BLOCK;
        for (int r = 0; r < reads; r++) load.in[r] = (const char *)j->in[r] + i;
        for (int w = 0; w < writes; w++) store.out[w] = (char *)j->out[w] + i;
        move(&load, reads, writes, false, AHEAD_NOTHING, unroll);
        move(&store, writes, writes, streams, AHEAD_NOTHING, unroll);
    }
}

NL_INLINE void move_so(const limit_job *j, int reads, int writes, bool streams, limit_ahead ahead,
                       int unroll) {
    if (ahead == AHEAD_LOADED)
        move_loaded(j, reads, writes, streams, unroll);
    else
        move(j, reads, writes, streams, ahead, unroll);
}

NL_INLINE void move_by(const limit_job *j, bool streams, limit_ahead ahead, int unroll) {
    switch (j->reads * 10 + j->writes) {
    case 10: read_only(j, ahead); break;
    case 1: move(j, 0, 1, streams, AHEAD_NOTHING, unroll); break;
    case 11: move_so(j, 1, 1, streams, ahead, unroll); break;
    case 21: move_so(j, 2, 1, streams, ahead, unroll); break;
    case 31: move_so(j, 3, 1, streams, ahead, unroll); break;
    case 22: move_so(j, 2, 2, streams, ahead, unroll); break;
    case 32: move_so(j, 3, 2, streams, ahead, unroll); break;
    default: __builtin_trap(); /* otherwise, a job that moves nothing would be timed as the limit */
    }
}

NL_INLINE void move_ahead(const limit_job *j, bool streams, int unroll) {
    switch (j->way.ahead) {
    case AHEAD_NOTHING: move_by(j, streams, AHEAD_NOTHING, unroll); break;
    case AHEAD_LINES: move_by(j, streams, AHEAD_LINES, unroll); break;
    case AHEAD_BLOCKS: move_by(j, streams, AHEAD_BLOCKS, unroll); break;
    case AHEAD_LOADED: move_by(j, streams, AHEAD_LOADED, unroll); break;
    }
}

/* Copies the job: the compiler would reload the pointers of the caller's job for every vector,
 * since a store could change them. */
void LIMIT_NAME(const limit_job *job);
void LIMIT_NAME(const limit_job *job) {
    const limit_job own = *job, *j = &own;
    uintptr_t bits = (uintptr_t)j->out[0] | (uintptr_t)(j->writes > 1 ? j->out[1] : j->out[0]);
    bool streams = j->way.store == LIMIT_STREAM && bits % BYTES == 0;
    if (streams && j->way.brief)
        move_ahead(j, true, 2);
    else if (streams)
        move_ahead(j, true, 8);
    else if (j->way.brief)
        move_ahead(j, false, 2);
    else
        move_ahead(j, false, 8);
    if (streams) vfence();
}
