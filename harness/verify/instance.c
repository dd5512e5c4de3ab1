/* SPDX-License-Identifier: MIT */
#include "verify/instance.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t whole_pages(size_t bytes) {
    const size_t page = page_bytes();
    return bytes ? (bytes + page - 1) / page * page : page;
}

/* Maps a guard page, the buffer's pages, and another guard page. */
static char *map_own(size_t inner) {
    const size_t page = page_bytes();
    char *map = mmap(NULL, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return NULL;
    if (mprotect(map + page, inner, PROT_READ | PROT_WRITE) != 0)
        return munmap(map, inner + 2 * page), NULL;
#ifdef MADV_HUGEPAGE
    if (inner >= (4u << 20)) madvise(map + page, inner, MADV_HUGEPAGE);
#endif
    return map;
}

static char *take(arena *shared, size_t bytes) {
    if (bytes > shared->bytes - shared->used) return NULL;
    shared->used += bytes;
    return shared->base + shared->used - bytes;
}

static bool place_buffer(instance *in, size_t which, size_t bytes, placement where, void **at) {
    const size_t skew = where == PLACE_START && which < NL_ARGS ? in->c->skew[which] : 0;
    size_t page = page_bytes(), inner = whole_pages(bytes + skew);
    char *map = in->shared ? take(in->shared, inner + 2 * page) : map_own(inner);
    if (!map) return false;
    in->map[which] = map;
    in->map_bytes[which] = inner + 2 * page;
    char *begin = map + page, *buffer = begin + (where == PLACE_END ? inner - bytes : skew);
    if (in->shared) { /* clears the bytes of another instance beside the buffer */
        memset(begin, 0xff, (size_t)(buffer - begin));
        memset(buffer + bytes, 0xff, (size_t)(begin + inner - buffer) - bytes);
    }
    *at = buffer;
    return true;
}

size_t instance_room(const nl_case *c, const nl_data *data, size_t scratch_bytes) {
    size_t total = whole_pages(scratch_bytes) + 2 * page_bytes();
    for (nl_arg s = 0; s < NL_ARGS; s++)
        total += whole_pages(data->bytes[s] + c->skew[s]) + 2 * page_bytes();
    return total;
}

bool instance_make(const nl_case *c, const nl_data *data, const nl_impl *impl, size_t scratch_bytes,
                   placement where, instance *out) {
    return instance_make_in(NULL, c, data, impl, scratch_bytes, where, out);
}

bool instance_make_in(arena *shared, const nl_case *c, const nl_data *data, const nl_impl *impl,
                      size_t scratch_bytes, placement where, instance *out) {
    *out = (instance){.c = c,
                      .data = data,
                      .impl = impl,
                      .scratch_bytes = scratch_bytes,
                      .unset = UNSET_NAN,
                      .shared = shared};
    if (shared) shared->used = 0;
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        bool absent = !data->bytes[s] && !data->input[s];
        if (absent && !(s == NL_Y || s == NL_DX)) continue;
        if (!place_buffer(out, s, data->bytes[s], where, &out->at[s]))
            return instance_free(out), false;
    }
    out->at[c->problem.pass == NL_BACKWARD ? NL_Y : NL_DX] = NULL;
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (c->in_place & NL_BIT(s)) out->at[case_output_over(c, s)] = out->at[s];
    size_t whole = (scratch_bytes + 63) / 64 * 64; /* scratch is 64-byte aligned at both ends */
    if (whole && !place_buffer(out, NL_ARGS, whole, where, &out->scratch))
        return instance_free(out), false;
    out->scratch_byte = where == PLACE_END ? 0xff : 0; /* 0, since a kernel may replace NaN */
    instance_fill(out);
    return true;
}

void instance_refill(instance *in) {
    const nl_data *d = in->data;
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (in->at[s] && !d->input[s]) memset(in->at[s], in->unset, d->bytes[s]);
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (in->at[s] && d->input[s]) memcpy(in->at[s], d->input[s], d->bytes[s]);
}

void instance_fill(instance *in) {
    instance_refill(in);
    if (in->scratch) memset(in->scratch, in->scratch_byte, (in->scratch_bytes + 63) / 64 * 64);
}

bool instance_consumes(const instance *in, nl_arg s) {
    if (!in->at[s] || !in->data->input[s]) return false;
    return (nl_passes[in->c->problem.pass].writes | in->c->in_place) & NL_BIT(s);
}

nl_forward_args instance_forward_args(const instance *in) {
    void *const *at = in->at;
    return (nl_forward_args){.x = at[NL_X],
                             .residual = at[NL_RESIDUAL],
                             .gate = at[NL_GATE],
                             .gamma = at[NL_GAMMA],
                             .beta = at[NL_BETA],
                             .y = at[NL_Y],
                             .residual_out = at[NL_RESIDUAL_OUT],
                             .mean = at[NL_MEAN],
                             .rstd = at[NL_RSTD],
                             .running_mean = at[NL_RUNNING_MEAN],
                             .running_var = at[NL_RUNNING_VAR],
                             .scratch = in->scratch};
}

nl_backward_args instance_backward_args(const instance *in) {
    void *const *at = in->at;
    return (nl_backward_args){.x = at[NL_X],
                              .dy = at[NL_DY],
                              .dresidual = at[NL_RESIDUAL],
                              .gate = at[NL_GATE],
                              .gamma = at[NL_GAMMA],
                              .mean = at[NL_MEAN],
                              .rstd = at[NL_RSTD],
                              .dx = at[NL_DX],
                              .dgate = at[NL_DGATE],
                              .dgamma = at[NL_DGAMMA],
                              .dbeta = at[NL_DBETA],
                              .scratch = in->scratch};
}

nl_status instance_call(const instance *in, int threads) {
    const nl_problem *p = &in->c->problem;
    if (p->pass == NL_BACKWARD) {
        const nl_backward_args a = instance_backward_args(in);
        return nl_backward(in->impl, p, &a, threads);
    }
    const nl_forward_args a = instance_forward_args(in);
    return nl_forward(in->impl, p, &a, threads);
}

enum { HASH_LANES = 8 }; /* chains of multiplications that do not wait for each other */

static void hash_words(uint64_t lane[HASH_LANES], const unsigned char *bytes) {
    uint64_t word[HASH_LANES];
    memcpy(word, bytes, sizeof word);
    for (int k = 0; k < HASH_LANES; k++) {
        uint64_t h = (lane[k] ^ word[k]) * 0x9e3779b97f4a7c15;
        lane[k] = h ^ h >> 29;
    }
}

uint64_t instance_hash(const instance *in) {
    enum { BLOCK = HASH_LANES * sizeof(uint64_t) };
    uint64_t lane[HASH_LANES], all = 0;
    for (int k = 0; k < HASH_LANES; k++) lane[k] = (uint64_t)k + 1;
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        const unsigned char *bytes = in->at[s];
        const size_t count = bytes ? in->data->bytes[s] : 0, whole = count - count % BLOCK;
        unsigned char last[BLOCK] = {0};
        for (size_t i = 0; i < whole; i += BLOCK) hash_words(lane, bytes + i);
        if (whole == count) continue;
        memcpy(last, bytes + whole, count - whole);
        hash_words(lane, last);
    }
    for (uint64_t k = 0; k < HASH_LANES; k++) all ^= lane[k] * (2 * k + 1);
    return all;
}

void instance_free(instance *in) {
    for (size_t i = 0; i <= NL_ARGS; i++)
        if (in->map[i] && !in->shared) munmap(in->map[i], in->map_bytes[i]);
    *in = (instance){0};
}
