/* Includes a rung instead of writing a kernel.
 * SPDX-License-Identifier: MIT */
// expect: hint one_pass.c, which has a kernel already
#include "../rmsnorm/one_pass.c"
