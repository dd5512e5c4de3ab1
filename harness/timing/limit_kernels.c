/* The movers, compiled once for each ISA like the kernels: vec.h has the width of a vector and how it is
 * streamed, and the build defines LIMIT_NAME (limit_avx2). SPDX-License-Identifier: MIT */
#include "timing/limit.h"
#include "vec.h"

/* Plain C, which has one lane, moves what compilers make of 16 bytes. */
enum { BYTES = VLEN == 1 ? 16 : (int)sizeof(vf) };
typedef float vec __attribute__((vector_size(BYTES), aligned(4), may_alias));

NL_INLINE void stream(void *p, vec v) {
    vf part[BYTES / sizeof(vf)];
    memcpy(part, &v, sizeof part);
    for (size_t k = 0; k < BYTES / sizeof(vf); k++) vstream(NL_F32, p, k * VLEN, part[k]);
}

/* Sums what it reads, or the compiler would remove the loads. Eight named accumulators, because the
 * compiler would keep an array in memory and add stores to the measurement. */
NL_INLINE void read_only(const limit_job *j) {
    const char *a = j->in[0];
    size_t i = 0;
    vec s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    for (; i + 8 * BYTES <= j->bytes; i += 8 * BYTES) {
        const vec *v = (const vec *)(a + i);
        s0 += v[0], s1 += v[1], s2 += v[2], s3 += v[3];
        s4 += v[4], s5 += v[5], s6 += v[6], s7 += v[7];
    }
    for (; i + BYTES <= j->bytes; i += BYTES) s0 += *(const vec *)(a + i);
    s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
    __asm__ volatile("" : : "m"(s0));
}

/* Every call passes constants for reads, writes and store, and so compiles to its own loop. */
NL_INLINE void move(const limit_job *j, int reads, int writes, limit_store store) {
    enum { UNROLL = 8, STEP = UNROLL * BYTES, AHEAD = 4096 };
    const char *a = j->in[0], *b = j->in[1], *c = j->in[2];
    char *y = j->out[0], *z = j->out[1];
    size_t whole = j->bytes / STEP * STEP;
    const vec one = (vec){0} + 1;
    for (size_t i = 0; i < whole; i += STEP) {
        if (store == LIMIT_STREAM_AHEAD)
            for (int k = 0; k < STEP; k += 64) {
                __builtin_prefetch(a + i + k + AHEAD, 0, 2);
                if (reads > 1) __builtin_prefetch(b + i + k + AHEAD, 0, 2);
                if (reads > 2) __builtin_prefetch(c + i + k + AHEAD, 0, 2);
            }
#pragma GCC unroll 8
        for (int k = 0; k < UNROLL; k++) {
            size_t at = i + (size_t)k * BYTES;
            vec v = reads > 0 ? *(const vec *)(a + at) : one;
            vec w = reads > 1 ? *(const vec *)(b + at) : one;
            if (reads > 2) w += *(const vec *)(c + at);
            if (reads > writes) v += w;
            if (store == LIMIT_ORDINARY)
                *(vec *)(y + at) = v;
            else
                stream(y + at, v);
            if (writes > 1 && store == LIMIT_ORDINARY) *(vec *)(z + at) = w;
            if (writes > 1 && store != LIMIT_ORDINARY) stream(z + at, w);
        }
    }
    if (store != LIMIT_ORDINARY) vfence();
    size_t rest = j->bytes - whole;
    if (reads > 0)
        memmove(y + whole, a + whole, rest);
    else
        memset(y + whole, 1, rest);
    if (writes > 1) memmove(z + whole, b + whole, rest);
}

NL_INLINE void move_as(const limit_job *j, limit_store store) {
    switch (j->reads * 10 + j->writes) {
    case 10: read_only(j); break;
    case 1: move(j, 0, 1, store); break;
    case 11: move(j, 1, 1, store); break;
    case 21: move(j, 2, 1, store); break;
    case 31: move(j, 3, 1, store); break;
    case 22: move(j, 2, 2, store); break;
    }
}

void LIMIT_NAME(const limit_job *j);
void LIMIT_NAME(const limit_job *j) {
    uintptr_t bits = (uintptr_t)j->out[0] | (uintptr_t)(j->writes > 1 ? j->out[1] : j->out[0]);
    limit_store store = bits % BYTES ? LIMIT_ORDINARY : j->store;
    switch (store) {
    case LIMIT_ORDINARY: move_as(j, LIMIT_ORDINARY); break;
    case LIMIT_STREAM: move_as(j, LIMIT_STREAM); break;
    case LIMIT_STREAM_AHEAD: move_as(j, LIMIT_STREAM_AHEAD); break;
    }
}
