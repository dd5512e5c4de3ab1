/* The options and arrays of `run` and `judge`. Reports every error before computing anything.
 * SPDX-License-Identifier: MIT */
#include "cli/arrays.h"
#include "cases/case.h"
#include "cli/options.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char arrays_usage[] =
    "LAYER is batchnorm, layernorm, rmsnorm; qwen2_rmsnorm (or gemma, qwen3next), whose gain is\n"
    "1 + gamma; gated_rmsnorm (or qwen3next_gated), which multiplies y by silu(gate); or\n"
    "gate_first_rmsnorm (or mamba2), which normalizes x * silu(gate). batchnorm takes x as\n"
    "(N, C) or (N, C, ...); the others take rows of features.\n"
    "Arrays are float16, float32, float64 (run computes float32), or bfloat16 as ml_dtypes saves\n"
    "it, '<V2'. FILE is a .npy file.\n"
    "\n"
    "  --axes LIST                axes to normalize, as -2,-1 (the last two)  default: the last\n"
    "                             batchnorm: all but axis 1; give 0,1,2 for (N, H, W, C)\n"
    "  --gamma FILE, --beta FILE  gain and bias, (C,)      default: a gain of one, a bias of zero\n"
    "  --residual FILE            added to x first; has x's shape and type\n"
    "  --gate FILE                needed by the gated layers; has x's shape and type\n"
    "  --eps NUMBER               added inside the root    default: 1e-5\n"
    "  --casting WHERE            last: round y; before-weight: also round x's normalized value\n"
    "  --sum HOW                  float: x + residual stays float; rounded: rounds it to x's type\n"
    "  --inference                batchnorm uses --running-mean FILE and --running-var FILE\n";

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
    for (int i = 0; i < count(a); i++) { /* in backward, x already contains the residual */
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
        return options_fail("--casting %s: should be last or before-weight", casting);
    if (sum && strcmp(sum, "rounded") == 0)
        a->p.sum = NL_SUM_ROUNDED;
    else if (sum && strcmp(sum, "float") != 0)
        return options_fail("--sum %s: should be float or rounded", sum);
    a->p.eps = (float)eps;
    a->axes = value[setting(a, AXES)];
    return true;
}

void arrays_free(arrays *a) {
    for (int i = 0; i < ARRAYS_MAX; i++) npy_free(&a->array[i]);
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

static bool read_input(arrays *a, int i) {
    char error[512];
    return npy_read(a->value[i], &a->array[i], error, sizeof error) ||
           options_fail("--%s %s", arrays_spec(a, i)->name, error);
}

/* NL_BIT() of each axis in the list; negative axes count from the end. False: after a message. */
static bool parse_axes(const arrays *a, unsigned *bits) {
    const char *list = a->axes, *at = list;
    const long rank = (long)a->array[IN_X].rank;
    char shape[NPY_SHAPE_TEXT], *end;
    npy_shape_text(&a->array[IN_X], shape);
    for (*bits = 0;; at = end + 1) {
        long axis = strtol(at, &end, 10);
        if (end == at || (*end && *end != ','))
            return options_fail("--axes '%s' should be numbers with commas, as -2,-1", list);
        if (axis < -rank || axis >= rank)
            return options_fail("--axes %s: x of shape %s has no axis %ld", list, shape, axis);
        axis += axis < 0 ? rank : 0;
        if (*bits & NL_BIT(axis)) return options_fail("--axes %s names an axis twice", list);
        *bits |= NL_BIT(axis);
        if (!*end) return true;
    }
}

/* Sets a->axis. Rows of features are the last axes; a channel may be any axis. */
static bool choose_axes(arrays *a) {
    const int rank = (int)a->array[IN_X].rank;
    const bool channels = nl_layers[a->p.op].channels_first;
    const char *list = a->axes;
    unsigned bits;
    a->axis = channels ? 1 : rank - 1;
    if (!list) return true;
    if (!parse_axes(a, &bits)) return false;
    const unsigned rest = ~bits & (NL_BIT(rank) - 1);
    a->axis = __builtin_ctz(channels ? rest | NL_BIT(rank) : bits);
    if (channels && (!rest || rest & (rest - 1)))
        return options_fail("--axes %s: %s needs all axes except the channels' axis", list,
                            a->layer);
    if (!channels && rest >= NL_BIT(a->axis))
        return options_fail("--axes %s: %s normalizes the last axes: save x with these last, "
                            "numpy.moveaxis(x, 1, -1)",
                            list, a->layer);
    return true;
}

/* Sets n, c, s and the type from x. */
static bool choose_shape(arrays *a) {
    const npy *x = &a->array[IN_X];
    nl_problem *p = &a->p;
    char shape[NPY_SHAPE_TEXT];
    const bool channels = nl_layers[p->op].channels_first;
    npy_shape_text(x, shape);
    if (channels && x->rank < 2)
        return options_fail("--x %s has shape %s; %s takes (N, C) or (N, C, ...)", a->value[IN_X],
                            shape, nl_op_name(p->op));
    if (x->rank < 1)
        return options_fail("--x %s has shape %s; it has no axis", a->value[IN_X], shape);
    if (!choose_axes(a)) return false;
    p->n = p->c = p->s = 1;
    for (int i = 0; i < (int)x->rank; i++)
        *(i < a->axis ? &p->n : i == a->axis || !channels ? &p->c : &p->s) *= x->shape[i];
    p->dtype = npy_type_of(x->type)->dtype;
    return true;
}

bool arrays_same_type(const arrays *a, int option) {
    const char *its = npy_type_of(a->array[option].type)->our_name;
    const char *of_x = npy_type_of(a->array[IN_X].type)->our_name;
    if (strcmp(its, of_x) == 0) return true;
    return options_fail("--%s %s is %s, and x is %s: save both as one type, with .astype()",
                        arrays_spec(a, option)->name, a->value[option], its, of_x);
}

static bool check_shape(arrays *a, int i) {
    char expected[NPY_SHAPE_TEXT], given[NPY_SHAPE_TEXT], shape[NPY_SHAPE_TEXT];
    const nl_arg arg = arrays_spec(a, i)->arg;
    npy as = {0};
    arrays_shape(a, arg, &as);
    npy_shape_text(&a->array[IN_X], shape);
    npy_shape_text(&as, expected), npy_shape_text(&a->array[i], given);
    if (strcmp(given, expected) == 0) return true;
    if (nl_args[arg].extent == NL_TENSOR)
        return options_fail("--%s %s has shape %s; x has %s", arrays_spec(a, i)->name, a->value[i],
                            given, expected);
    return options_fail("--%s %s has shape %s; x of shape %s needs %s", arrays_spec(a, i)->name,
                        a->value[i], given, shape, expected);
}

bool arrays_load(arrays *a) {
    for (int i = IN_X; i < OWN + a->own_inputs; i++)
        if (a->value[i] && !read_input(a, i)) return false;
    if (!choose_shape(a)) return false;
    for (int i = IN_RESIDUAL; i < OWN + a->own_inputs; i++) {
        if (!a->array[i].data) continue;
        const bool as_x = i == IN_RESIDUAL || i == IN_GATE;
        if (!check_shape(a, i) || (as_x && !arrays_same_type(a, i))) return false;
        const bool tensor = nl_args[arrays_spec(a, i)->arg].extent == NL_TENSOR;
        a->saved[i] = a->array[i].type;
        if (!tensor && !arrays_to_float(a->value[i], &a->array[i])) return false;
    }
    return true;
}

void arrays_flatten(arrays *a) {
    const nl_problem *p = &a->p;
    if (!a->axes) return;
    for (int i = 0; i < OWN + a->own_inputs; i++) {
        npy *t = &a->array[i];
        if (!t->data || nl_args[arrays_spec(a, i)->arg].extent != NL_TENSOR) continue;
        if (nl_layers[p->op].channels_first) {
            t->rank = p->s == 1 ? 2 : 3;
            t->shape[0] = p->n, t->shape[1] = p->c, t->shape[2] = p->s;
        } else {
            t->rank = (size_t)a->axis + 1, t->shape[a->axis] = p->c;
        }
    }
}

void arrays_shape(const arrays *a, nl_arg arg, npy *out) {
    const npy *x = &a->array[IN_X];
    const nl_layer *layer = &nl_layers[a->p.op];
    const bool parameter = nl_args[arg].extent == NL_PARAMETERS;
    const nl_extent extent = parameter ? NL_FEATURES : nl_args[arg].extent;
    const size_t axis = (size_t)a->axis;
    const bool channels = extent == NL_FEATURES ? layer->channels_first : layer->by_channel;
    size_t first = 0, end = x->rank;
    if (extent != NL_TENSOR && channels) first = axis, end = axis + 1;
    if (extent == NL_FEATURES && !channels) first = axis;
    if (extent == NL_GROUPS && !channels) end = axis;
    out->rank = end - first;
    for (size_t i = first; i < end; i++) out->shape[i - first] = x->shape[i];
}
