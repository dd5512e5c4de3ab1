/* The header of the teaching rungs: views that give the data as floats, whatever the storage type
 * (view.h, backward_view.h), and NL_IMPL, which ends every kernel file and adds it to the table.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "backward_view.h"
#include "view.h"

#include <math.h>

#define NL_TEXT_(a) #a
#define NL_TEXT(a) NL_TEXT_(a)
#define NL_ID_(stem, isa) nl_impl_##stem##_##isa
#define NL_ID(stem, isa) NL_ID_(stem, isa)

/* The build defines NL_NAME ("layernorm/naive") and NL_STEM (layernorm_naive) from the file's path,
 * and NL_ISA (c, avx2, ...). A kernel file without NL_IMPL at its end does not link. If only
 * NL_NAME is defined, the file becomes a separate library for --load. */
#ifdef NL_STEM
#define NL_IMPL(...)                             \
    extern const nl_impl NL_ID(NL_STEM, NL_ISA); \
    const nl_impl NL_ID(NL_STEM, NL_ISA) = {.name = NL_NAME, .isa = NL_TEXT(NL_ISA), __VA_ARGS__}
#elif defined(NL_NAME)
#include "normlab_kernel.h"

#ifndef NL_ISA
#define NL_ISA c
#endif
static const nl_impl nl_only; /* all fields are zero, unless NL_IMPL sets them */

int normlab_kernel_abi(void) {
    return NL_KERNEL_ABI;
}

const nl_impl *normlab_kernel(size_t i) {
    return i == 0 ? &nl_only : NULL;
}

#define NL_IMPL(...) \
    static const nl_impl nl_only = {.name = NL_NAME, .isa = NL_TEXT(NL_ISA), __VA_ARGS__}
#else
#define NL_IMPL(...) \
    _Static_assert(0, "name the kernel, on the command line: -DNL_NAME='\"rmsnorm/mine\"'")
#endif

/* .dtypes of most kernels in plain C; in optimized/: NL_VEC_DTYPES (vec.h). */
#define NL_ALL_DTYPES (NL_BIT(NL_DTYPES) - 1)
