/* All valid pairs of op and pass, with the pointers of each call. SPDX-License-Identifier: MIT */
#pragma once

#include "support.h"

/* The pointers of the two argument structures, in order, without the plan. */
enum { POINTERS = 12 };
static const char *const pointers[2][POINTERS] = {
    {"x", "residual", "gate", "gamma", "beta", "y", "residual_out", "mean", "rstd", "running_mean",
     "running_var", "scratch"},
    {"x", "dy", "dresidual", "gate", "gamma", "mean", "rstd", "dx", "dgate", "dgamma", "dbeta",
     "scratch"},
};
_Static_assert(sizeof(nl_forward_args) == (POINTERS + 1) * sizeof(void *),
               "nl_forward_args has changed");
_Static_assert(sizeof(nl_backward_args) == (POINTERS + 1) * sizeof(void *),
               "nl_backward_args has changed");

/* For every valid pair of op and pass: the top rung of its teaching ladder, the pointers that a
 * call must have, and the other pointers that it accepts. */
static const struct job {
    nl_op op;
    nl_pass pass;
    const char *top, *needs, *takes;
} jobs[] = {
    {NL_BATCHNORM, NL_FORWARD, "batchnorm/refined", "x y running_mean running_var",
     "gamma beta mean rstd scratch"},
    {NL_BATCHNORM, NL_INFERENCE, "batchnorm/inference", "x y running_mean running_var",
     "gamma beta scratch"},
    {NL_BATCHNORM, NL_BACKWARD, "batchnorm/backward", "x dy mean rstd dx",
     "gamma dgamma dbeta scratch"},
    {NL_LAYERNORM, NL_FORWARD, "layernorm/refined", "x residual y",
     "gamma beta residual_out mean rstd scratch"},
    {NL_LAYERNORM, NL_BACKWARD, "layernorm/backward", "x dy mean rstd dx",
     "dresidual gamma dgamma dbeta scratch"},
    {NL_RMSNORM, NL_FORWARD, "rmsnorm/one_pass", "x residual y", "gamma residual_out rstd scratch"},
    {NL_RMSNORM, NL_BACKWARD, "rmsnorm/backward", "x dy rstd dx", "dresidual gamma dgamma scratch"},
    {NL_QWEN2_RMSNORM, NL_FORWARD, "rmsnorm/one_pass", "x residual y",
     "gamma residual_out rstd scratch"},
    {NL_QWEN2_RMSNORM, NL_BACKWARD, "rmsnorm/backward", "x dy rstd dx",
     "dresidual gamma dgamma scratch"},
    {NL_GATED_RMSNORM, NL_FORWARD, "gated_rmsnorm/naive", "x gate y", "gamma rstd scratch"},
    {NL_GATED_RMSNORM, NL_BACKWARD, "gated_rmsnorm/backward", "x dy gate rstd dx",
     "dgate gamma dgamma scratch"},
    {NL_GATE_FIRST_RMSNORM, NL_FORWARD, "gated_rmsnorm/naive", "x gate y", "gamma rstd scratch"},
    {NL_GATE_FIRST_RMSNORM, NL_BACKWARD, "gated_rmsnorm/backward", "x dy gate rstd dx",
     "dgate gamma dgamma scratch"},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

static inline bool may_have(const struct job *job, const char *pointer) {
    return has_word(job->needs, pointer) || has_word(job->takes, pointer);
}

static inline bool writes(const struct job *job, const char *pointer) {
    static const char *const outputs[] = {
        [NL_FORWARD] = "y residual_out mean rstd running_mean running_var scratch",
        [NL_BACKWARD] = "dx dgate dgamma dbeta scratch",
        [NL_INFERENCE] = "y scratch",
    };
    return may_have(job, pointer) && has_word(outputs[job->pass], pointer);
}
