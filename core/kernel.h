/* What a teaching rung includes: views of the data as floats, whatever the storage (view.h,
 * backward_view.h), and NL_IMPL, which ends every kernel file and puts it in the table.
 * SPDX-License-Identifier: MIT */
#ifndef NL_KERNEL_H
#define NL_KERNEL_H

#include "backward_view.h"
#include "view.h"

#include <math.h>

/* The build defines NL_NAME ("layernorm/naive") and NL_STEM (layernorm_naive) from the file's path,
 * and NL_ISA (c, avx2, ...): a file that does not end with NL_IMPL does not link. */
#define NL_TEXT_(a) #a
#define NL_TEXT(a) NL_TEXT_(a)
#define NL_ID_(stem, isa) nl_impl_##stem##_##isa
#define NL_ID(stem, isa) NL_ID_(stem, isa)
#define NL_IMPL(...)                             \
    extern const nl_impl NL_ID(NL_STEM, NL_ISA); \
    const nl_impl NL_ID(NL_STEM, NL_ISA) = {.name = NL_NAME, .isa = NL_TEXT(NL_ISA), __VA_ARGS__}

/* The implementation of another file for this ISA: NL_OTHER(optimized_rows_pipelined). */
#define NL_OTHER(stem) (&NL_ID(stem, NL_ISA))
#define NL_DECLARE(stem) extern const nl_impl NL_ID(stem, NL_ISA)

/* Plain C takes every type; optimized/ takes NL_VEC_DTYPES (vec.h). */
#define NL_ALL_DTYPES (NL_BIT(NL_DTYPES) - 1)

#endif
