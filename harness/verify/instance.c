/* Buffers that cannot be overrun unnoticed: each lies between two pages without access.
 * SPDX-License-Identifier: MIT */
#include "verify/verify.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The output that shares an input's memory in an in-place case, or SLOTS. */
static slot replaced_by(slot input, nl_pass pass) {
    if (pass == NL_BACKWARD) return input == DY ? DX : SLOTS;
    return input == X ? Y : input == RESIDUAL ? RESIDUAL_OUT : SLOTS;
}

static bool place(instance *in, size_t which, size_t bytes, placement where, void **at) {
    size_t skew = where == PLACE_START && which >= Y && which < SLOTS ? in->c->skew : 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (bytes + skew + page - 1) / page * page;
    if (inner == 0) inner = page;
    char *map = mmap(NULL, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return false;
    in->map[which] = map;
    in->map_bytes[which] = inner + 2 * page;
    if (mprotect(map + page, inner, PROT_READ | PROT_WRITE) != 0) return false;
#ifdef MADV_HUGEPAGE
    if (inner >= (4u << 20)) madvise(map + page, inner, MADV_HUGEPAGE);
#endif
    *at = map + page + (where == PLACE_END ? inner - bytes : skew);
    return true;
}

bool instance_make(const nl_case *c, const nl_data *data, const nl_impl *impl, size_t scratch_bytes,
                   placement where, instance *out) {
    *out = (instance){.c = c, .data = data, .impl = impl, .scratch_bytes = scratch_bytes};
    for (slot s = 0; s < SLOTS; s++) {
        bool absent = !data->bytes[s] && !data->input[s];
        if (absent && !(s == Y || s == DX)) continue;
        if (!place(out, s, data->bytes[s], where, &out->at[s])) return instance_free(out), false;
    }
    out->at[c->problem.pass == NL_BACKWARD ? Y : DX] = NULL;
    for (slot s = 0; c->in_place && s < SLOTS; s++) {
        slot output = replaced_by(s, c->problem.pass);
        if (output != SLOTS && out->at[s]) out->at[output] = out->at[s];
    }
    size_t whole = (scratch_bytes + 63) / 64 * 64; /* scratch is 64-byte aligned at both ends */
    if (whole && !place(out, SLOTS, whole, where, &out->scratch)) return instance_free(out), false;
    instance_fill(out);
    return true;
}

void instance_fill(instance *in) {
    const nl_data *d = in->data;
    for (slot s = 0; s < SLOTS; s++) /* all ones is a NaN in every storage type */
        if (in->at[s]) memset(in->at[s], 0xff, d->bytes[s]);
    for (slot s = 0; s < SLOTS; s++)
        if (in->at[s] && d->input[s]) memcpy(in->at[s], d->input[s], d->bytes[s]);
    if (in->scratch) memset(in->scratch, 0xff, in->scratch_bytes);
}

nl_status instance_call(const instance *in, int threads) {
    void *const *at = in->at;
    if (in->c->problem.pass == NL_BACKWARD) {
        nl_backward_args a = {.x = at[X],
                              .dy = at[DY],
                              .dresidual = at[RESIDUAL],
                              .gamma = at[GAMMA],
                              .mean = at[MEAN],
                              .rstd = at[RSTD],
                              .dx = at[DX],
                              .dgamma = at[DGAMMA],
                              .dbeta = at[DBETA],
                              .scratch = in->scratch};
        return nl_backward(in->impl, &in->c->problem, &a, threads);
    }
    nl_forward_args a = {.x = at[X],
                         .residual = at[RESIDUAL],
                         .gamma = at[GAMMA],
                         .beta = at[BETA],
                         .y = at[Y],
                         .residual_out = at[RESIDUAL_OUT],
                         .mean = at[MEAN],
                         .rstd = at[RSTD],
                         .running_mean = at[RUNNING_MEAN],
                         .running_var = at[RUNNING_VAR],
                         .scratch = in->scratch};
    return nl_forward(in->impl, &in->c->problem, &a, threads);
}

void instance_free(instance *in) {
    for (size_t i = 0; i <= SLOTS; i++)
        if (in->map[i]) munmap(in->map[i], in->map_bytes[i]);
    *in = (instance){0};
}
