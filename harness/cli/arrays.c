/* Options and arrays of `run` and `judge`. Reports every error before computing anything.
 * SPDX-License-Identifier: MIT */
#include "cli/arrays.h"
#include "cases/names.h"
#include "cli/options.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char arrays_usage[] =
    "LAYER is batchnorm, layernorm, rmsnorm, qwen2_rmsnorm (also: gemma, qwen3next), whose gain "
    "is\n"
    "1 + gamma, gated_rmsnorm (qwen3next_gated), whose y is times silu(gate), or "
    "gate_first_rmsnorm\n"
    "(mamba2), which normalizes x * silu(gate). batchnorm takes x as (N, C) or (N, C, ...); the "
    "others take rows of features.\n"
    "Arrays are float16, float32, float64 (run computes float32), or bfloat16 as ml_dtypes saves\n"
    "it, '<V2'. FILE is an .npy.\n"
    "\n"
    "  --axes LIST                normalized together, -2,-1: the last two    default: the last\n"
    "                             batchnorm: all but the channels', 0,1,2 for (N, H, W, C)\n"
    "  --gamma FILE, --beta FILE  gain and bias, (C,)      default: a gain of one, a bias of zero\n"
    "  --residual FILE            added to x first; its shape and type\n"
    "  --gate FILE                of the gated layers, which need it; x's shape and type\n"
    "  --eps NUMBER               inside the root          default: 1e-5\n"
    "  --casting WHERE            last: round y; before-weight: also round x's normalized value\n"
    "  --sum HOW                  float: normalize x + residual as it is; rounded: to x's type "
    "first\n"
    "  --inference                batchnorm on --running-mean FILE and --running-var FILE\n";

enum { EPS, CASTING, SUM, INFERENCE, AXES, SETTINGS };

static const array_option inputs[INPUTS] = {
    [IN_X] = {"x", NL_X, false, IN_X},
    [IN_RESIDUAL] = {"residual", NL_RESIDUAL, false, IN_X},
    [IN_GATE] = {"gate", NL_GATE, false, IN_X},
    [IN_GAMMA] = {"gamma", NL_GAMMA, false, IN_X},
    [IN_BETA] = {"beta", NL_BETA, false, IN_X},
    [IN_RUNNING_MEAN] = {"running-mean", NL_RUNNING_MEAN, false, IN_RUNNING_VAR},
    [IN_RUNNING_VAR] = {"running-var", NL_RUNNING_VAR, false, IN_RUNNING_MEAN},
};

static const array_option settings[SETTINGS] = {
    [EPS] = {"eps", NL_X, false, IN_X},
    [CASTING] = {"casting", NL_X, false, IN_X},
    [SUM] = {"sum", NL_RESIDUAL, false, IN_RESIDUAL},
    [INFERENCE] = {"inference", NL_RUNNING_MEAN, false, IN_RUNNING_MEAN},
    [AXES] = {"axes", NL_X, false, IN_X},
};

static int count(const arrays *a) {
    return OWN + a->own_count + SETTINGS;
}

static int setting(const arrays *a, int i) {
    return OWN + a->own_count + i;
}

const array_option *arrays_spec(const arrays *a, int i) {
    if (i < OWN) return &inputs[i];
    return i < setting(a, 0) ? &a->own[i - OWN] : &settings[i - setting(a, 0)];
}

int arrays_options(int argc, char **argv, arrays *a) {
    option_spec specs[ARRAYS_MAX] = {0};
    int first;
    bool inference = false;
    for (int i = 0; i < count(a); i++)
        specs[i] =
            (option_spec){arrays_spec(a, i)->name,
                          strcmp(arrays_spec(a, i)->name, ARRAYS_LOAD) ? OPTION_TEXT : OPTION_LOAD,
                          &a->value[i], 0, 0};
    const int flag = setting(a, INFERENCE);
    specs[flag].kind = OPTION_FLAG, specs[flag].to = &inference;
    int code = options_read(argc, argv, NULL, specs, (size_t)count(a), true, &first);
    if (code != OPTIONS_DONE) return code;
    if (inference) a->value[flag] = "";
    if (first < argc) a->layer = argv[first];
    if (first + 1 >= argc) return OPTIONS_DONE;
    options_fail("%s: the layer is %s already", argv[first + 1], a->layer);
    return options_see_help();
}

bool arrays_number(const arrays *a, int option, double low, double high, bool whole, double *out) {
    const char *text = a->value[option];
    return !text || options_number(arrays_spec(a, option)->name, text, low, high, whole, out);
}

bool arrays_layer(arrays *a) {
    if (!a->layer) return options_fail("which layer? %s", layer_names());
    if (!nl_op_from_name(a->layer, &a->p.op))
        return options_fail("%s is no layer: %s", a->layer, layer_names());
    return a->value[IN_X] || options_fail("--x FILE.npy is missing: the input");
}

static bool suits(const array_option *s, const nl_problem *p) {
    const struct nl_pass_row *pass = &nl_passes[p->pass];
    return nl_takes(p->op, p->pass) & (s->written ? pass->writes : pass->reads) & NL_BIT(s->arg);
}

bool arrays_check(arrays *a) {
    const char *const *value = a->value, *casting = value[setting(a, CASTING)],
                      *sum = value[setting(a, SUM)];
    double eps = 1e-5;
    bool inference = value[setting(a, INFERENCE)] && nl_layers[a->p.op].running;
    a->p.pass = a->backward ? NL_BACKWARD : inference ? NL_INFERENCE : NL_FORWARD;
    for (int i = 0; i < count(a); i++) { /* backward takes the sum with the residual as x */
        const bool meant = suits(arrays_spec(a, i), &a->p) && !(a->backward && i == IN_RESIDUAL);
        if (value[i] && !meant)
            return options_fail("--%s has no meaning for %s%s", arrays_spec(a, i)->name, a->layer,
                                a->backward ? " backward"
                                : inference ? " --inference"
                                            : "");
        if (value[i] && !value[arrays_spec(a, i)->needs])
            return options_fail("--%s needs --%s", arrays_spec(a, i)->name,
                                arrays_spec(a, arrays_spec(a, i)->needs)->name);
    }
    if (nl_layers[a->p.op].gate && !value[IN_GATE])
        return options_fail("--gate FILE.npy is missing: %s needs it", a->layer);
    if (!arrays_number(a, setting(a, EPS), 0, FLT_MAX, false, &eps)) return false;
    if (eps > 0 && (float)eps == 0)
        return options_fail("--eps %s is zero as a float", value[setting(a, EPS)]);
    if (casting && strcmp(casting, "before-weight") == 0)
        a->p.casting = NL_CAST_BEFORE_WEIGHT;
    else if (casting && strcmp(casting, "last") != 0)
        return options_fail("--casting %s: last or before-weight", casting);
    if (sum && strcmp(sum, "rounded") == 0)
        a->p.sum = NL_SUM_ROUNDED;
    else if (sum && strcmp(sum, "float") != 0)
        return options_fail("--sum %s: float or rounded", sum);
    a->p.eps = (float)eps;
    a->axes = value[setting(a, AXES)];
    return true;
}

nl_arg arrays_arg(const arrays *a, int option) {
    return arrays_spec(a, option)->arg;
}

void arrays_free(arrays *a) {
    for (int i = 0; i < ARRAYS_MAX; i++) npy_free(&a->array[i]);
}
