/* The tables of layer.h, and lookup by name. SPDX-License-Identifier: MIT */
#include "layer.h"

#include <string.h>

const nl_layer nl_layers[NL_OPS] = {
    [NL_BATCHNORM] = {.name = "batchnorm",
                      .group = "channel",
                      .channels_first = true,
                      .by_channel = true,
                      .centred = true,
                      .beta = true,
                      .running = true},
    [NL_LAYERNORM] =
        {.name = "layernorm", .group = "row", .centred = true, .beta = true, .residual = true},
    [NL_RMSNORM] = {.name = "rmsnorm", .group = "row", .residual = true},
    [NL_QWEN2_RMSNORM] = {.name = "qwen2_rmsnorm",
                          .aliases = {"gemma", "qwen3next"},
                          .group = "row",
                          .plus_one = true,
                          .residual = true},
    [NL_GATED_RMSNORM] = {.name = "gated_rmsnorm",
                          .aliases = {"qwen3next_gated"},
                          .group = "row",
                          .gate = NL_GATE_LAST},
    [NL_GATE_FIRST_RMSNORM] = {.name = "gate_first_rmsnorm",
                               .aliases = {"mamba2"},
                               .group = "row",
                               .gate = NL_GATE_FIRST},
};

static const char *const dtypes[NL_DTYPES] =
    {[NL_F32] = "f32", [NL_F16] = "f16", [NL_BF16] = "bf16"};

enum {
    INPUTS =
        NL_BIT(NL_X) | NL_BIT(NL_RESIDUAL) | NL_BIT(NL_GAMMA) | NL_BIT(NL_BETA) | NL_BIT(NL_GATE),
    OUTPUTS = NL_BIT(NL_Y) | NL_BIT(NL_RESIDUAL_OUT),
    SAVED = NL_BIT(NL_MEAN) | NL_BIT(NL_RSTD),
    RUNNING = NL_BIT(NL_RUNNING_MEAN) | NL_BIT(NL_RUNNING_VAR),
    GRADIENT = NL_BIT(NL_X) | NL_BIT(NL_DY) | NL_BIT(NL_GATE) | SAVED
};

const struct nl_pass_row nl_passes[NL_PASSES] = {
    [NL_FORWARD] = {"forward", NL_BIT(NL_X) | NL_BIT(NL_GATE) | NL_BIT(NL_Y), INPUTS | RUNNING,
                    OUTPUTS | SAVED | RUNNING},
    [NL_BACKWARD] = {"backward", GRADIENT | NL_BIT(NL_DX),
                     GRADIENT | NL_BIT(NL_RESIDUAL) | NL_BIT(NL_GAMMA),
                     NL_BIT(NL_DX) | NL_BIT(NL_DGAMMA) | NL_BIT(NL_DBETA) | NL_BIT(NL_DGATE)},
    [NL_INFERENCE] = {"inference", NL_BIT(NL_X) | NL_BIT(NL_Y) | RUNNING, INPUTS | RUNNING,
                      OUTPUTS},
};

bool nl_op_from_name(const char *name, nl_op *op) {
    for (int i = 0; i < NL_OPS; i++) {
        const nl_layer *l = &nl_layers[i];
        bool found = strcmp(l->name, name) == 0;
        for (int k = 0; k < NL_ALIASES && l->aliases[k]; k++)
            found = found || strcmp(l->aliases[k], name) == 0;
        if (found) return *op = (nl_op)i, true;
    }
    return false;
}

const char *nl_arg_name(nl_arg arg, nl_pass pass) {
    return arg == NL_RESIDUAL && pass == NL_BACKWARD ? "dresidual" : nl_args[arg].name;
}

const char *nl_op_name(nl_op op) {
    return (unsigned)op < NL_OPS ? nl_layers[op].name : "?";
}

const char *nl_pass_name(nl_pass pass) {
    return (unsigned)pass < NL_PASSES ? nl_passes[pass].name : "?";
}

const char *nl_dtype_name(nl_dtype dtype) {
    return (unsigned)dtype < NL_DTYPES ? dtypes[dtype] : "?";
}

size_t nl_dtype_bytes(nl_dtype dtype) {
    return (unsigned)dtype < NL_DTYPES ? nl_dtype_size(dtype) : 0;
}
