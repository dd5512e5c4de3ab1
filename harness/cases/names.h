/* Layers, passes and types by name. SPDX-License-Identifier: MIT */
#ifndef NL_NAMES_H
#define NL_NAMES_H

#include "normlab.h"

bool pass_from_name(const char *name, nl_pass *pass);
bool dtype_from_name(const char *name, nl_dtype *dtype);

/* "batchnorm, layernorm, ... (also gemma, ...)" and "f32, ... or bf16", for error messages. */
const char *layer_names(void);
const char *pass_names(void);
const char *dtype_names(void);

#endif
