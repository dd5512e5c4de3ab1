/* Compares the table of layers with jobs[] (an independent list of the same facts) and with the
 * reference's groups. SPDX-License-Identifier: MIT */
#include "layer.h"
#include "jobs.h"
#include "reference.h"

static const struct job *job_of(nl_op op, nl_pass pass) {
    for (const struct job *j = jobs; j < jobs + JOBS; j++)
        if (j->op == op && j->pass == pass) return j;
    return NULL;
}

static void check_argument(nl_op op, nl_pass pass, const struct job *job, nl_arg a) {
    const char *name = nl_arg_name(a, pass);
    const unsigned bit = NL_BIT(a);
    const bool takes = nl_takes(op, pass) & bit, needs = has_word(job->needs, name);
    /* a call needs this argument if the argument's partner is given */
    const bool paired = a == NL_RESIDUAL || a == NL_RUNNING_MEAN || a == NL_RUNNING_VAR;
    const char *differ = takes != may_have(job, name)                                    ? "taken"
                         : takes && !(nl_passes[pass].writes & bit) == writes(job, name) ? "written"
                         : takes && !paired && !(nl_passes[pass].needs & bit) == needs   ? "needed"
                                                                                         : NULL;
    if (differ)
        cr_assert_fail("%s %s: the table and jobs[] differ in whether %s is %s", nl_op_name(op),
                       nl_pass_name(pass), name, differ);
}

/* tests/library/arguments.c calls the entry points with and without each argument of jobs[]. */
Test(layer, the_table_has_the_arguments_of_jobs) {
    size_t meaningful = 0;
    for (nl_op op = 0; op < NL_OPS; op++)
        for (nl_pass pass = 0; pass < NL_PASSES; pass++) {
            const struct job *job = job_of(op, pass);
            for (nl_arg a = 0; a < NL_ARGS && job; a++) check_argument(op, pass, job, a);
            meaningful += job != NULL;
        }
    cr_assert(meaningful == JOBS, "%zu of %d jobs", meaningful, JOBS);
}

/* Table and reference agree on which elements share a mean and which share a gamma. */
Test(layer, groups_are_those_of_the_reference) {
    static const size_t all[][3] = {{3, 37, 1}, {5, 3, 7}, {1, 2, 1}};
    for (size_t k = 0; k < NL_OPS * sizeof all / sizeof *all; k++) {
        nl_problem p = {.op = (nl_op)(k % NL_OPS)};
        p.n = all[k / NL_OPS][0], p.c = all[k / NL_OPS][1], p.s = all[k / NL_OPS][2];
        if (p.s > 1 && !nl_layers[p.op].channels_first) continue;
        size_t groups = nl_group_count(&p), size = nl_group_size(&p);
        bool right = groups == ref_groups(&p) && size == group_size(&p);
        right = right && groups * size == p.n * p.c * p.s;
        right = right && nl_layers[p.op].centred == is_centred(&p);
        for (size_t g = 0; g < groups; g++)
            for (size_t e = 0; e < size; e++) {
                size_t i = element(&p, g, e);
                right = right && nl_element(&p, g, e) == i && nl_group_of(&p, i) == g &&
                        nl_member_of(&p, i) == e && nl_feature_of(&p, i) == feature(&p, i);
            }
        cr_assert(right, "%s", spelled(&p));
    }
}

/* With gamma = 0 the gain is 1 if the layer uses 1 + gamma, else 0. */
Test(layer, gain) {
    for (nl_op op = 0; op < NL_OPS; op++)
        cr_assert(ref_gain(&(nl_problem){.op = op}, (float[]){0}, 0) == nl_layers[op].plus_one,
                  "%s: 1 + gamma %d", nl_op_name(op), nl_layers[op].plus_one);
}

Test(layer, bytes) {
    nl_problem p = {.op = NL_BATCHNORM, .n = 5, .c = 3, .s = 7};
    static const size_t each[NL_DTYPES] = {4, 2, 2};
    for (int t = 0; t < NL_DTYPES; t++) {
        size_t tensor = 5 * 3 * 7 * each[t];
        p.dtype = (nl_dtype)t;
        cr_assert(nl_dtype_bytes(p.dtype) == each[t] && nl_arg_bytes(&p, NL_X) == tensor &&
                  nl_arg_bytes(&p, NL_DX) == tensor);
    }
    cr_assert(nl_arg_bytes(&p, NL_GAMMA) == 12 && nl_arg_bytes(&p, NL_MEAN) == 12);
    p.op = NL_LAYERNORM, p.dtype = NL_F16, p.s = 1;
    cr_assert(nl_arg_bytes(&p, NL_GAMMA) == 12 && nl_arg_bytes(&p, NL_MEAN) == 20 &&
              nl_arg_bytes(&p, NL_RUNNING_VAR) == 12 && nl_arg_bytes(&p, NL_RESIDUAL) == 30);
}

Test(layer, names) {
    static const char *const ops[NL_OPS] = {"batchnorm",     "layernorm",     "rmsnorm",
                                            "qwen2_rmsnorm", "gated_rmsnorm", "gate_first_rmsnorm"};
    static const char *const passes[NL_PASSES] = {"forward", "backward", "inference"};
    static const char *const dtypes[NL_DTYPES] = {"f32", "f16", "bf16"};
    static const struct {
        const char *name;
        nl_op op;
    } others[] = {{"gemma", NL_QWEN2_RMSNORM},
                  {"qwen3next", NL_QWEN2_RMSNORM},
                  {"mamba2", NL_GATE_FIRST_RMSNORM}};
    nl_op op;
    for (nl_op i = 0; i < NL_OPS; i++) {
        cr_assert_str_eq(nl_op_name(i), ops[i], "op %d", (int)i);
        cr_assert(nl_op_from_name(ops[i], &op) && op == i, "%s", ops[i]);
    }
    for (int i = 0; i < 3; i++)
        cr_assert(nl_op_from_name(others[i].name, &op) && op == others[i].op, "%s", others[i].name);
    for (int i = 0; i < NL_PASSES; i++)
        cr_assert_str_eq(nl_pass_name((nl_pass)i), passes[i], "pass %d", i);
    for (int i = 0; i < NL_DTYPES; i++)
        cr_assert_str_eq(nl_dtype_name((nl_dtype)i), dtypes[i], "dtype %d", i);
    cr_assert(!nl_op_from_name("", &op) && !nl_op_from_name("LayerNorm", &op) &&
              !nl_op_from_name("layer", &op));
    cr_assert_str_eq(nl_op_name(NL_OPS), "?");
    cr_assert_str_eq(nl_pass_name(NL_PASSES), "?");
    cr_assert_str_eq(nl_dtype_name(NL_DTYPES), "?");
    cr_assert(nl_dtype_bytes(NL_DTYPES) == 0);
}
