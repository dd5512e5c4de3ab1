/* Options and arrays of `run` and `judge`. Reports every error before computing anything.
 * SPDX-License-Identifier: MIT */
#include "verbs/arrays.h"
#include "base/npy_read.h"
#include "cases/names.h"
#include "dtype.h"
#include "verbs/options.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char arrays_usage[] =
    "LAYER is batchnorm, layernorm, rmsnorm or qwen2_rmsnorm (also: gemma, qwen3next), whose gain\n"
    "is 1 + gamma. batchnorm takes x as (N, C) or (N, C, ...); the others take rows of features.\n"
    "\n"
    "  --gamma FILE, --beta FILE  gain and bias, (C,)      default: a gain of one, a bias of zero\n"
    "  --residual FILE            added to x first; its shape and type\n"
    "  --eps NUMBER               inside the root          default: 1e-5\n"
    "  --casting WHERE            last: round y; before-weight: also round x's normalized value\n"
    "  --inference                batchnorm on --running-mean FILE and --running-var FILE\n";

enum { EPS, CASTING, INFERENCE, SETTINGS };

static const array_option inputs[INPUTS] = {
    [IN_X] = {"x", NL_X, false, IN_X},
    [IN_RESIDUAL] = {"residual", NL_RESIDUAL, false, IN_X},
    [IN_GAMMA] = {"gamma", NL_GAMMA, false, IN_X},
    [IN_BETA] = {"beta", NL_BETA, false, IN_X},
    [IN_RUNNING_MEAN] = {"running-mean", NL_RUNNING_MEAN, false, IN_RUNNING_VAR},
    [IN_RUNNING_VAR] = {"running-var", NL_RUNNING_VAR, false, IN_RUNNING_MEAN},
};

static const array_option settings[SETTINGS] = {
    [EPS] = {"eps", NL_X, false, IN_X},
    [CASTING] = {"casting", NL_X, false, IN_X},
    [INFERENCE] = {"inference", NL_RUNNING_MEAN, false, IN_RUNNING_MEAN},
};

static int count(const arrays *a) {
    return OWN + a->own_count + SETTINGS;
}

static int setting(const arrays *a, int i) {
    return OWN + a->own_count + i;
}

static const array_option *spec(const arrays *a, int i) {
    if (i < OWN) return &inputs[i];
    return i < setting(a, 0) ? &a->own[i - OWN] : &settings[i - setting(a, 0)];
}

int arrays_options(int argc, char **argv, arrays *a) {
    option_spec specs[ARRAYS_MAX] = {0};
    int first;
    bool inference = false;
    for (int i = 0; i < count(a); i++)
        specs[i] = (option_spec){spec(a, i)->name,
                                 strcmp(spec(a, i)->name, ARRAYS_LOAD) ? OPTION_TEXT : OPTION_LOAD,
                                 &a->value[i], 0, 0};
    const int flag = setting(a, INFERENCE);
    specs[flag].kind = OPTION_FLAG, specs[flag].to = &inference;
    int code = options_read(argc, argv, specs, (size_t)count(a), true, &first);
    if (code != OPTIONS_DONE) return code;
    if (inference) a->value[flag] = "";
    if (first < argc) a->layer = argv[first];
    if (first + 1 >= argc) return OPTIONS_DONE;
    options_fail("%s: the layer is %s already", argv[first + 1], a->layer);
    return options_see_help();
}

bool arrays_number(const arrays *a, int option, double low, double high, bool whole, double *out) {
    const char *text = a->value[option];
    return !text || options_number(spec(a, option)->name, text, low, high, whole, out);
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
    const char *const *value = a->value, *casting = value[setting(a, CASTING)];
    double eps = 1e-5;
    bool inference = value[setting(a, INFERENCE)] && nl_layers[a->p.op].running;
    a->p.pass = a->backward ? NL_BACKWARD : inference ? NL_INFERENCE : NL_FORWARD;
    for (int i = 0; i < count(a); i++) { /* backward takes the sum with the residual as x */
        const bool meant = suits(spec(a, i), &a->p) && !(a->backward && i == IN_RESIDUAL);
        if (value[i] && !meant)
            return options_fail("--%s has no meaning for %s%s", spec(a, i)->name, a->layer,
                                a->backward ? " backward"
                                : inference ? " --inference"
                                            : "");
        if (value[i] && !value[spec(a, i)->needs])
            return options_fail("--%s needs --%s", spec(a, i)->name,
                                spec(a, spec(a, i)->needs)->name);
    }
    if (!arrays_number(a, setting(a, EPS), 0, FLT_MAX, false, &eps)) return false;
    if (eps > 0 && (float)eps == 0)
        return options_fail("--eps %s is zero as a float", value[setting(a, EPS)]);
    if (casting && strcmp(casting, "before-weight") == 0)
        a->p.casting = NL_CAST_BEFORE_WEIGHT;
    else if (casting && strcmp(casting, "last") != 0)
        return options_fail("--casting %s: last or before-weight", casting);
    a->p.eps = (float)eps;
    return true;
}

bool arrays_to_float(const char *path, npy *a) {
    if (a->type == 'f') return true;
    float *f = malloc(a->count ? a->count * sizeof *f : 1);
    if (!f) return options_fail("%s: out of memory", path);
    for (size_t i = 0; i < a->count; i++) {
        const double v = npy_value(a, i);
        f[i] = (float)v;
        if (!isinf(f[i]) || isinf(v)) continue;
        options_fail("%s: its element %zu, %g, is beyond float32", path, i, v);
        return free(f), false;
    }
    free(a->data);
    a->data = f, a->type = 'f';
    return true;
}

bool arrays_load(arrays *a) {
    char error[512], shape[NPY_SHAPE_TEXT], other[NPY_SHAPE_TEXT];
    npy *x = &a->array[IN_X], *residual = &a->array[IN_RESIDUAL];
    nl_problem *p = &a->p;
    for (int i = IN_X; i < INPUTS; i++)
        if (a->value[i] && !npy_read(a->value[i], &a->array[i], error, sizeof error))
            return options_fail("--%s %s", inputs[i].name, error);
    bool channels_first = nl_layers[p->op].channels_first;
    npy_shape_text(x, shape);
    if (channels_first && x->rank < 2)
        return options_fail("--x %s has shape %s; %s takes (N, C) or (N, C, ...)", a->value[IN_X],
                            shape, nl_op_name(p->op));
    if (x->rank < 1)
        return options_fail("--x %s has shape %s; it has no axis", a->value[IN_X], shape);
    size_t features = channels_first ? 1 : x->rank - 1;
    p->n = p->s = 1, p->c = x->shape[features];
    for (size_t i = 0; i < features; i++) p->n *= x->shape[i];
    for (size_t i = features + 1; i < x->rank; i++) p->s *= x->shape[i];
    p->dtype = npy_type_of(x->type)->dtype;
    if (residual->data) {
        npy_shape_text(residual, other);
        if (residual->type != x->type || strcmp(shape, other) != 0)
            return options_fail("--residual %s is %s of shape %s; x is %s of shape %s",
                                a->value[IN_RESIDUAL], npy_type_of(residual->type)->our_name, other,
                                npy_type_of(x->type)->our_name, shape);
    }
    for (int i = IN_GAMMA; i < INPUTS; i++) {
        if (!a->array[i].data) continue;
        npy_shape_text(&a->array[i], other);
        if (a->array[i].rank != 1 || a->array[i].count != p->c)
            return options_fail("--%s %s has shape %s; x of shape %s needs (%zu,)", inputs[i].name,
                                a->value[i], other, shape, p->c);
        if (!arrays_to_float(a->value[i], &a->array[i])) return false;
    }
    return true;
}

nl_arg arrays_arg(const arrays *a, int option) {
    return spec(a, option)->arg;
}

void arrays_shape(const arrays *a, nl_arg arg, npy *out) {
    const npy *x = &a->array[IN_X];
    const nl_extent extent = nl_args[arg].extent;
    bool channels = extent == NL_FEATURES || (extent == NL_GROUPS && nl_layers[a->p.op].by_channel);
    out->rank = extent == NL_TENSOR ? x->rank : channels ? 1 : x->rank - 1;
    for (size_t i = 0; i < out->rank; i++) out->shape[i] = channels ? a->p.c : x->shape[i];
}

void arrays_free(arrays *a) {
    for (int i = 0; i < ARRAYS_MAX; i++) npy_free(&a->array[i]);
}
