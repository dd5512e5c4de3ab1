/* Kernels from outside the tree: `normlab --load FILE.so` adds the kernels of a shared library to
 * the table of implementations. The library exports the two functions below, and may be written in
 * any language that can export them (examples/). A file that is written like the kernels of the
 * tree, with "kernel.h" and NL_IMPL, already has both functions:
 *
 *     cc -O2 -fno-math-errno -ffp-contract=off -shared -fPIC -DNL_NAME='"rmsnorm/mine"' \
 *         -Iinclude -Icore mine.c -o mine.so
 *     normlab check --load ./mine.so --impl rmsnorm/mine
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Incremented when the layout or meaning of nl_impl, nl_problem, nl_forward_args, nl_backward_args,
 * nl_threshold or an enumeration changes. A library compiled with another number is refused. */
#define NL_KERNEL_ABI 4

#ifdef __cplusplus
extern "C" {
#endif

/* Returns NL_KERNEL_ABI. */
NL_API int normlab_kernel_abi(void);

/* Returns kernel 0, 1, ... of the library; NULL after the last. The nl_impl must never change. Its
 * name is "FOLDER/NAME" in letters, digits and _ . + -, and no other kernel has the name. Its isa
 * is "c", unless the code needs a wider instruction set. A kernel may rely on valid arguments, and
 * must neither allocate nor print. */
NL_API const nl_impl *normlab_kernel(size_t i);

#ifdef __cplusplus
}
#endif
