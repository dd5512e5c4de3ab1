/* Options and arrays of `run` and `judge`: all that is wrong is said before anything is computed.
 * SPDX-License-Identifier: MIT */
#include "verbs/arrays.h"
#include "base/npy_read.h"
#include "cases/case.h"
#include "dtype.h"

#include <float.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const option_spec shared[OWN] = {
    [IN_X] = {"x", NL_X, false, IN_X},
    [IN_RESIDUAL] = {"residual", NL_RESIDUAL, false, IN_X},
    [IN_GAMMA] = {"gamma", NL_GAMMA, false, IN_X},
    [IN_BETA] = {"beta", NL_BETA, false, IN_X},
    [IN_RUNNING_MEAN] = {"running-mean", NL_RUNNING_MEAN, false, IN_RUNNING_VAR},
    [IN_RUNNING_VAR] = {"running-var", NL_RUNNING_VAR, false, IN_RUNNING_MEAN},
    [EPS] = {"eps", NL_X, false, IN_X},
    [CASTING] = {"casting", NL_X, false, IN_X},
    [INFERENCE] = {"inference", NL_RUNNING_MEAN, false, IN_RUNNING_MEAN},
    [HELP] = {"help", NL_X, false, IN_X},
};

static const char *verb = "run";

static const option_spec *spec(const arrays *a, int i) {
    return i < OWN ? &shared[i] : &a->own[i - OWN];
}

bool arrays_fail(const char *format, ...) {
    va_list rest;
    fprintf(stderr, "normlab %s: ", verb);
    va_start(rest, format);
    vfprintf(stderr, format, rest);
    va_end(rest);
    fputc('\n', stderr);
    return false;
}

bool arrays_options(int argc, char **argv, arrays *a) {
    struct option options[OPTIONS_MOST + 1] = {0};
    int i, code;
    verb = a->verb;
    for (i = 0; i < OWN + a->own_count; i++) {
        options[i].name = spec(a, i)->name;
        options[i].has_arg = i == INFERENCE || i == HELP ? no_argument : required_argument;
    }
    optind = 0, opterr = 0; /* 0: start anew, whatever was parsed before */
    while (code = getopt_long(argc, argv, "-:", options, &i), code != -1) {
        const char *given = argv[optind - 1];
        if (code == '?' && optopt)
            return arrays_fail("-%c is no option: they begin with --", optopt);
        if (code == '?') return arrays_fail("%s is no option, or takes no value", given);
        if (code == ':') return arrays_fail("%s needs a value", given);
        if (code == 1 && a->layer)
            return arrays_fail("%s: the layer is %s already", optarg, a->layer);
        if (code == 1) {
            a->layer = optarg;
            continue;
        }
        if (optarg == given) given = argv[optind - 2];
        /* An abbreviation is refused: who writes --mean FILE would have FILE overwritten. */
        if (strncmp(given + 2, spec(a, i)->name, strlen(spec(a, i)->name)) != 0)
            return arrays_fail("%s is no option; --%s is", given, spec(a, i)->name);
        if (a->value[i]) return arrays_fail("--%s is given twice", spec(a, i)->name);
        a->value[i] = optarg ? optarg : "";
        if (i == HELP) return true;
        if (optarg && !*optarg) return arrays_fail("--%s is empty", spec(a, i)->name);
    }
    return optind == argc || arrays_fail("%s: name the layer and options before --", argv[optind]);
}

bool arrays_number(const arrays *a, int option, double low, double high, double *out) {
    char *end;
    const char *text = a->value[option];
    if (!text) return true;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out >= low && *out <= high) return true;
    return arrays_fail("--%s %s: give a number from %g to %g", spec(a, option)->name, text, low,
                       high);
}

bool arrays_layer(arrays *a) {
    if (!a->layer) return arrays_fail("which layer? %s", layer_names());
    if (!nl_op_from_name(a->layer, &a->p.op))
        return arrays_fail("%s is no layer: %s", a->layer, layer_names());
    return a->value[IN_X] || arrays_fail("--x FILE.npy is missing: the input");
}

static bool suits(const option_spec *s, const nl_problem *p) {
    const struct nl_pass_row *pass = &nl_passes[p->pass];
    return nl_takes(p->op, p->pass) & (s->written ? pass->writes : pass->reads) & NL_BIT(s->arg);
}

bool arrays_check(arrays *a) {
    const char *const *value = a->value;
    double eps = 1e-5;
    bool inference = value[INFERENCE] && nl_layers[a->p.op].running;
    a->p.pass = inference ? NL_INFERENCE : NL_FORWARD;
    for (int i = 0; i < OWN + a->own_count; i++) {
        if (value[i] && !suits(spec(a, i), &a->p))
            return arrays_fail("--%s has no meaning for %s%s", spec(a, i)->name, a->layer,
                               inference ? " --inference" : "");
        if (value[i] && !value[spec(a, i)->needs])
            return arrays_fail("--%s needs --%s", spec(a, i)->name,
                               spec(a, spec(a, i)->needs)->name);
    }
    if (!arrays_number(a, EPS, 0, FLT_MAX, &eps)) return false;
    if (eps > 0 && (float)eps == 0) return arrays_fail("--eps %s is zero as a float", value[EPS]);
    if (value[CASTING] && strcmp(value[CASTING], "before-weight") == 0)
        a->p.casting = NL_CAST_BEFORE_WEIGHT;
    else if (value[CASTING] && strcmp(value[CASTING], "last") != 0)
        return arrays_fail("--casting %s: last or before-weight", value[CASTING]);
    a->p.eps = (float)eps;
    return true;
}

bool arrays_to_float(const char *path, npy *a) {
    if (a->type == 'f') return true;
    float *f = malloc(a->count ? a->count * sizeof *f : 1);
    if (!f) return arrays_fail("%s: out of memory", path);
    for (size_t i = 0; i < a->count; i++) {
        f[i] = a->type == 'd' ? (float)((double *)a->data)[i] : nl_load(NL_F16, a->data, i);
        if (a->type != 'd' || !isinf(f[i]) || isinf(((double *)a->data)[i])) continue;
        arrays_fail("%s: its element %zu, %g, is beyond float32", path, i, ((double *)a->data)[i]);
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
            return arrays_fail("--%s %s", shared[i].name, error);
    bool by_channel = nl_layers[p->op].by_channel;
    npy_shape_text(x, shape);
    if (by_channel && x->rank < 2)
        return arrays_fail("--x %s has shape %s; %s takes (N, C) or (N, C, ...)", a->value[IN_X],
                           shape, nl_op_name(p->op));
    if (x->rank < 1)
        return arrays_fail("--x %s has shape %s; there is no axis in it", a->value[IN_X], shape);
    size_t features = by_channel ? 1 : x->rank - 1;
    p->n = p->s = 1, p->c = x->shape[features];
    for (size_t i = 0; i < features; i++) p->n *= x->shape[i];
    for (size_t i = features + 1; i < x->rank; i++) p->s *= x->shape[i];
    p->dtype = x->type == 'e' ? NL_F16 : NL_F32;
    if (residual->data) {
        npy_shape_text(residual, other);
        if (residual->type != x->type || strcmp(shape, other) != 0)
            return arrays_fail("--residual %s is %s of shape %s; x is %s of shape %s",
                               a->value[IN_RESIDUAL], npy_type_of(residual->type)->our_name, other,
                               npy_type_of(x->type)->our_name, shape);
    }
    for (int i = IN_GAMMA; i < INPUTS; i++) {
        if (!a->array[i].data) continue;
        npy_shape_text(&a->array[i], other);
        if (a->array[i].rank != 1 || a->array[i].count != p->c)
            return arrays_fail("--%s %s has shape %s; x of shape %s needs (%zu,)", shared[i].name,
                               a->value[i], other, shape, p->c);
        if (!arrays_to_float(a->value[i], &a->array[i])) return false;
    }
    return true;
}

void arrays_free(arrays *a) {
    for (int i = 0; i < OPTIONS_MOST; i++) npy_free(&a->array[i]);
}
