/* Kernels from outside the tree: `normlab --load FILE.so` adds those of a shared library to the
 * table of implementations. The library exports the two functions below, in any language that can
 * (examples/). A file that is written like the rungs of the tree, with "kernel.h" and NL_IMPL, has
 * them already:
 *
 *     cc -O2 -fno-math-errno -ffp-contract=off -shared -fPIC -DNL_NAME='"rmsnorm/mine"' \
 *         -Iinclude -Icore mine.c -o mine.so
 *     normlab check --load ./mine.so --impl rmsnorm/mine
 *
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* Changes with the layout and the meaning of nl_impl, nl_problem, nl_forward_args,
 * nl_backward_args, nl_threshold and the enumerations. A library that was compiled for another
 * number is refused. */
#define NL_KERNEL_ABI 3

#ifdef __cplusplus
extern "C" {
#endif

/* Returns NL_KERNEL_ABI. */
NL_API int normlab_kernel_abi(void);

/* Kernel 0, 1, ... of the library, NULL after the last. What it points to stays as it is. In
 * nl_impl, name is "FOLDER/NAME" of letters, digits and _ . + -, and not that of another kernel;
 * isa is "c", unless the code needs a wider instruction set; A kernel does
 * as those of the tree do: its arguments are valid, it returns, allocates and prints nothing. */
NL_API const nl_impl *normlab_kernel(size_t i);

#ifdef __cplusplus
}
#endif
