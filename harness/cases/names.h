/* Layers, passes and types by name. SPDX-License-Identifier: MIT */
#pragma once

#include "normlab.h"

/* nl_op_name() and similar functions, with an index as argument, for loops over all numbers. */
const char *op_name(int op);
const char *pass_name(int pass);
const char *dtype_name(int dtype);

/* How an implementation computes the variance: "two-pass", or "-" for those that compute none. */
const char *method_name(const nl_impl *impl);

bool pass_from_name(const char *name, nl_pass *pass);
bool dtype_from_name(const char *name, nl_dtype *dtype);
bool method_from_name(const char *name, nl_method *method);

/* Of a method: "two-pass". */
const char *method_at(int method);

/* "batchnorm, layernorm, ... (also gemma, ...)" and "f32, ... or bf16", for error messages. */
const char *layer_names(void);
const char *pass_names(void);
const char *dtype_names(void);
const char *method_names(void);
