/* Writes a kernel file to begin with.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

#include <stdio.h>

/* Writes a kernel that compiles and computes nothing; simd: in the words of vec.h. */
void stub_write(FILE *out, nl_op op, nl_pass pass, bool simd);
