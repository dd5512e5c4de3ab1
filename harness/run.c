/* `normlab run`: one layer on the user's own arrays. Every input is checked and everything is
 * computed before the first output is written. SPDX-License-Identifier: MIT */
#include "case.h"
#include "dtype.h"
#include "npy.h"
#include "reference.h"
#include "verbs.h"

#include <float.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "normlab run LAYER --x FILE.npy --out FILE.npy [options]\n"
    "\n"
    "Computes a layer on arrays of float16, float32 or float64 (computed as float32).\n"
    "LAYER is batchnorm, layernorm, rmsnorm or qwen2_rmsnorm (also: gemma, qwen3next), whose gain\n"
    "is 1 + gamma. batchnorm takes x as (N, C) or (N, C, ...); the others take rows of features.\n"
    "\n"
    "  --gamma FILE, --beta FILE  gain and bias, (C,)      default: a gain of one, a bias of zero\n"
    "  --residual FILE            added to x first; its shape and type\n"
    "  --eps NUMBER               inside the root          default: 1e-5\n"
    "  --casting WHERE            last: round y; before-weight: also round x's normalized value\n"
    "  --impl NAME[@ISA]          of `normlab list`; best (the default); reference: long double\n"
    "  --threads N                at most this many        default: 1\n"
    "  --inference                batchnorm on --running-mean FILE and --running-var FILE\n"
    "  --momentum NUMBER          weight of the new value in the running ones    default: 0.1\n"
    "  --residual-out FILE        x + residual, rounded to the type of x\n"
    "  --mean-out FILE, --rstd-out FILE                      per row, or per channel of batchnorm\n"
    "  --running-mean-out FILE, --running-var-out FILE       the running statistics, moved\n"
    "\n"
    "  normlab run layernorm --x x.npy --gamma gamma.npy --beta beta.npy --out y.npy\n"
    "  normlab run rmsnorm --x x.npy --residual r.npy --casting before-weight --out y.npy\n"
    "  normlab run batchnorm --x x.npy --inference --running-mean m.npy --running-var v.npy \\\n"
    "      --out y.npy\n";

/* The options; the first twelve name an array. */
enum { X, RESIDUAL, GAMMA, BETA, RUNNING_MEAN, RUNNING_VAR, INPUTS };
enum { OUT = INPUTS, RESIDUAL_OUT, MEAN_OUT, RSTD_OUT, RUNNING_MEAN_OUT, RUNNING_VAR_OUT, ARRAYS };
enum { EPS = ARRAYS, CASTING, IMPL, THREADS, MOMENTUM, INFERENCE, HELP, OPTIONS };

/* Who takes an option, and which other one it makes no sense without. */
enum { TRAINING = 1, INFERRING = 2, LAYER = 4, RMS = 8, ALL = 15 };
static const struct spec {
    const char *name;
    int takers, needs;
} specs[OPTIONS] = {
    [X] = {"x", ALL, X},
    [RESIDUAL] = {"residual", LAYER | RMS, X},
    [GAMMA] = {"gamma", ALL, X},
    [BETA] = {"beta", TRAINING | INFERRING | LAYER, X},
    [RUNNING_MEAN] = {"running-mean", TRAINING | INFERRING, RUNNING_VAR},
    [RUNNING_VAR] = {"running-var", TRAINING | INFERRING, RUNNING_MEAN},
    [OUT] = {"out", ALL, X},
    [RESIDUAL_OUT] = {"residual-out", LAYER | RMS, RESIDUAL},
    [MEAN_OUT] = {"mean-out", TRAINING | LAYER, X},
    [RSTD_OUT] = {"rstd-out", TRAINING | LAYER | RMS, X},
    [RUNNING_MEAN_OUT] = {"running-mean-out", TRAINING, RUNNING_MEAN},
    [RUNNING_VAR_OUT] = {"running-var-out", TRAINING, RUNNING_VAR},
    [EPS] = {"eps", ALL, X},
    [CASTING] = {"casting", ALL, X},
    [IMPL] = {"impl", ALL, X},
    [THREADS] = {"threads", ALL, X},
    [MOMENTUM] = {"momentum", TRAINING, RUNNING_MEAN},
    [INFERENCE] = {"inference", INFERRING, RUNNING_MEAN},
    [HELP] = {"help", ALL, X},
};

typedef struct run {
    const char *layer, *value[OPTIONS];
    npy array[ARRAYS];
    nl_problem p;
    const nl_impl *impl;
    bool reference;
    int threads;
} run;

static bool fail(const char *format, ...) {
    va_list rest;
    fputs("normlab run: ", stderr);
    va_start(rest, format);
    vfprintf(stderr, format, rest);
    va_end(rest);
    fputc('\n', stderr);
    return false;
}

static bool read_options(int argc, char **argv, run *r) {
    struct option options[OPTIONS + 1] = {0};
    int i, code;
    for (i = 0; i < OPTIONS; i++) {
        options[i].name = specs[i].name;
        options[i].has_arg = i < INFERENCE ? required_argument : no_argument;
    }
    optind = 0, opterr = 0; /* 0: start anew, whatever was parsed before */
    while (code = getopt_long(argc, argv, "-:", options, &i), code != -1) {
        const char *given = argv[optind - 1];
        if (code == '?' && optopt) return fail("-%c is no option: they begin with --", optopt);
        if (code == '?') return fail("%s is no option, or takes no value", given);
        if (code == ':') return fail("%s needs a value", given);
        if (code == 1 && r->layer) return fail("%s: the layer is %s already", optarg, r->layer);
        if (code == 1) {
            r->layer = optarg;
            continue;
        }
        if (optarg == given) given = argv[optind - 2];
        /* An abbreviation is refused: who writes --mean FILE would have FILE overwritten. */
        if (strncmp(given + 2, specs[i].name, strlen(specs[i].name)) != 0)
            return fail("%s is no option; --%s is", given, specs[i].name);
        if (r->value[i]) return fail("--%s is given twice", specs[i].name);
        r->value[i] = optarg ? optarg : "";
        if (i == HELP) return true;
        if (optarg && !*optarg) return fail("--%s is empty", specs[i].name);
    }
    return optind == argc || fail("%s: name the layer and options before --", argv[optind]);
}

static bool number(const run *r, int option, double low, double high, double *out) {
    char *end;
    const char *text = r->value[option];
    if (!text) return true;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out >= low && *out <= high) return true;
    return fail("--%s %s: give a number from %g to %g", specs[option].name, text, low, high);
}

static bool check_options(run *r) {
    const char *const *value = r->value;
    double eps = 1e-5, momentum = 0.1, threads = 1;
    if (!r->layer) return fail("which layer? batchnorm, layernorm, rmsnorm or qwen2_rmsnorm");
    if (!op_from_name(r->layer, &r->p.op))
        return fail("%s is no layer: batchnorm, layernorm, rmsnorm or qwen2_rmsnorm (also gemma, "
                    "qwen3next)",
                    r->layer);
    if (!value[X]) return fail("--x FILE.npy is missing: the input");
    if (!value[OUT]) return fail("--out FILE.npy is missing: where to write y");
    for (int i = OUT; i < ARRAYS; i++) {
        if (value[i] && strcmp(value[i], "-") == 0)
            return fail("--%s -: standard output is not supported, name a file", specs[i].name);
        for (int j = OUT; value[i] && j < i; j++)
            if (value[j] && strcmp(value[i], value[j]) == 0)
                return fail("--%s and --%s name the same file, %s", specs[j].name, specs[i].name,
                            value[i]);
    }
    bool batch = r->p.op == NL_BATCHNORM, training = batch && !value[INFERENCE];
    int mode = training ? TRAINING : batch ? INFERRING : r->p.op == NL_LAYERNORM ? LAYER : RMS;
    for (int i = 0; i < OPTIONS; i++) {
        if (value[i] && !(specs[i].takers & mode))
            return fail("--%s has no meaning for %s%s", specs[i].name, r->layer,
                        mode == INFERRING ? " --inference" : "");
        if (value[i] && !value[specs[i].needs])
            return fail("--%s needs --%s", specs[i].name, specs[specs[i].needs].name);
    }
    if (training && value[RUNNING_MEAN] && !(value[RUNNING_MEAN_OUT] && value[RUNNING_VAR_OUT]))
        return fail("--running-mean: training moves the running statistics, give "
                    "--running-mean-out and --running-var-out; or --inference to use them");
    if (!number(r, EPS, 0, FLT_MAX, &eps) || !number(r, MOMENTUM, 0, 1, &momentum) ||
        !number(r, THREADS, 1, 4096, &threads))
        return false;
    if (eps > 0 && (float)eps == 0) return fail("--eps %s is zero as a float", value[EPS]);
    if (threads != (int)threads) return fail("--threads %s: whole threads only", value[THREADS]);
    if (value[CASTING] && strcmp(value[CASTING], "before-weight") == 0)
        r->p.casting = NL_CAST_BEFORE_WEIGHT;
    else if (value[CASTING] && strcmp(value[CASTING], "last") != 0)
        return fail("--casting %s: last or before-weight", value[CASTING]);
    r->p.pass = mode == INFERRING ? NL_INFERENCE : NL_FORWARD;
    r->p.eps = (float)eps, r->p.momentum = (float)momentum, r->threads = (int)threads;
    return true;
}

/* A value that float cannot hold is refused rather than made infinite. */
static bool to_float(const char *path, npy *a) {
    if (a->type == 'f') return true;
    float *f = malloc(a->count ? a->count * sizeof *f : 1);
    if (!f) return fail("%s: out of memory", path);
    for (size_t i = 0; i < a->count; i++) {
        f[i] = a->type == 'd' ? (float)((double *)a->data)[i] : nl_load(NL_F16, a->data, i);
        if (a->type != 'd' || !isinf(f[i]) || isinf(((double *)a->data)[i])) continue;
        fail("%s: its element %zu, %g, is beyond float32", path, i, ((double *)a->data)[i]);
        return free(f), false;
    }
    free(a->data);
    a->data = f, a->type = 'f';
    return true;
}

static const char *type_name(const npy *a) {
    return a->type == 'e' ? "f16" : a->type == 'f' ? "f32" : "f64";
}

static bool load(run *r) {
    char error[512], shape[NPY_SHAPE_TEXT], other[NPY_SHAPE_TEXT];
    npy *x = &r->array[X], *residual = &r->array[RESIDUAL];
    nl_problem *p = &r->p;
    for (int i = X; i < INPUTS; i++)
        if (r->value[i] && !npy_read(r->value[i], &r->array[i], error, sizeof error))
            return fail("--%s %s", specs[i].name, error);
    bool batch = p->op == NL_BATCHNORM;
    npy_shape_text(x, shape);
    if (x->rank < (batch ? 2 : 1))
        return fail("--x %s has shape %s; %s", r->value[X], shape,
                    batch ? "batchnorm takes (N, C) or (N, C, ...)" : "there is no axis in it");
    size_t features = batch ? 1 : x->rank - 1;
    p->n = p->s = 1, p->c = x->shape[features];
    for (size_t i = 0; i < features; i++) p->n *= x->shape[i];
    for (size_t i = features + 1; i < x->rank; i++) p->s *= x->shape[i];
    if (residual->data) {
        npy_shape_text(residual, other);
        if (residual->type != x->type || strcmp(shape, other) != 0)
            return fail("--residual %s is %s of shape %s; x is %s of shape %s", r->value[RESIDUAL],
                        type_name(residual), other, type_name(x), shape);
    }
    for (int i = GAMMA; i < INPUTS; i++) {
        if (!r->array[i].data) continue;
        npy_shape_text(&r->array[i], other);
        if (r->array[i].rank != 1 || r->array[i].count != p->c)
            return fail("--%s %s has shape %s; x of shape %s needs (%zu,)", specs[i].name,
                        r->value[i], other, shape, p->c);
        if (!to_float(r->value[i], &r->array[i])) return false;
    }
    if (x->type == 'd') {
        fprintf(stderr, "%s is float64: computed as float32, and y is float32\n", r->value[X]);
        if (!to_float(r->value[X], x)) return false;
        if (residual->data && !to_float(r->value[RESIDUAL], residual)) return false;
    }
    p->dtype = x->type == 'e' ? NL_F16 : NL_F32;
    return true;
}

/* Filled with ones, a NaN in each type: what nothing writes must not look like a result. */
static bool make(npy *a, char type, size_t rank, const size_t *shape) {
    size_t bytes = type == 'e' ? 2 : 4;
    *a = (npy){.type = type, .rank = rank, .count = 1};
    for (size_t i = 0; i < rank; i++) a->count *= a->shape[i] = shape[i];
    a->data = malloc(a->count * bytes + 1);
    if (!a->data) return fail("out of memory for an output of %zu bytes", a->count * bytes);
    memset(a->data, 0xff, a->count * bytes);
    return true;
}

static bool choose(run *r) {
    const char *given = r->value[IMPL] ? r->value[IMPL] : "best", *at = strchr(given, '@');
    char name[128];
    r->reference = strcmp(given, "reference") == 0;
    if (r->reference || strcmp(given, "best") == 0) {
        r->impl = nl_best(&r->p, r->threads);
    } else {
        snprintf(name, sizeof name, "%.*s", at ? (int)(at - given) : (int)strlen(given), given);
        r->impl = nl_find(name, at ? at + 1 : NULL);
    }
    if (r->impl && nl_accepts(r->impl, &r->p) && nl_isa_runs(r->impl->isa)) return true;
    fail("--impl %s %s; these take %s %s in %s here:", given,
         r->impl ? "does not take the problem" : "is not known", nl_op_name(r->p.op),
         nl_pass_name(r->p.pass), nl_dtype_name(r->p.dtype));
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *impl = nl_impl_at(i);
        if (nl_accepts(impl, &r->p) && nl_isa_runs(impl->isa))
            fprintf(stderr, "  %s@%s\n", impl->name, impl->isa);
    }
    fprintf(stderr, "  best\n  reference\n");
    return false;
}

/* The reference's answer in place of the implementation's. */
static bool refer(run *r) {
    const nl_problem *p = &r->p;
    npy *in = r->array, *out = r->array;
    size_t count = in[X].count, groups = ref_groups(p);
    double *d = calloc(count + 1, 4 * sizeof *d);
    long double *g = calloc(groups + 1, 6 * sizeof *g);
    if (!d || !g) return free(d), free(g), fail("out of memory for the reference");
    const double *residual = in[RESIDUAL].data ? d + count : NULL;
    ref_inputs inputs = {.x = d,
                         .residual = residual,
                         .gamma = in[GAMMA].data,
                         .beta = in[BETA].data,
                         .running_mean = in[RUNNING_MEAN].data,
                         .running_var = in[RUNNING_VAR].data};
    ref_outputs o = {.xhat = d + 2 * count,
                     .sum = d + 3 * count,
                     .mean = g,
                     .var = g + groups,
                     .rstd = g + 2 * groups,
                     .magnitude = g + 3 * groups};
    if (out[RUNNING_MEAN_OUT].data) o.running_mean = g + 4 * groups, o.running_var = g + 5 * groups;
    for (size_t i = 0; i < count; i++) {
        d[i] = nl_load(p->dtype, in[X].data, i);
        if (residual) d[count + i] = nl_load(p->dtype, in[RESIDUAL].data, i);
    }
    bool ok = ref_compute(p, &inputs, &o, r->threads);
    for (size_t i = 0; ok && i < count; i++) {
        size_t j = i / p->s % p->c;
        long double xhat = o.xhat[i];
        if (p->casting == NL_CAST_BEFORE_WEIGHT) xhat = ref_round(p->dtype, xhat);
        long double y = ref_gain(p, inputs.gamma, j) * xhat;
        if (inputs.beta) y += inputs.beta[j];
        nl_store(p->dtype, out[OUT].data, i, (float)ref_round(p->dtype, y));
        if (out[RESIDUAL_OUT].data)
            nl_store(p->dtype, out[RESIDUAL_OUT].data, i, (float)ref_round(p->dtype, o.sum[i]));
    }
    const long double *from[ARRAYS] = {[MEAN_OUT] = o.mean,
                                       [RSTD_OUT] = o.rstd,
                                       [RUNNING_MEAN_OUT] = o.running_mean,
                                       [RUNNING_VAR_OUT] = o.running_var};
    for (int k = MEAN_OUT; k < ARRAYS && ok && count; k++)
        for (size_t i = 0; out[k].data && i < groups; i++)
            ((float *)out[k].data)[i] = (float)from[k][i];
    free(d), free(g);
    return ok || fail("out of memory for the reference");
}

static bool compute(run *r) {
    npy *in = r->array, *out = r->array, *x = &in[X];
    bool batch = r->p.op == NL_BATCHNORM;
    for (int i = OUT; i < ARRAYS; i++) {
        bool tensor = i == OUT || i == RESIDUAL_OUT, group = i == MEAN_OUT || i == RSTD_OUT;
        size_t rank = tensor ? x->rank : batch ? 1 : x->rank - 1;
        const size_t *shape = batch && !tensor ? &r->p.c : x->shape;
        if (!r->value[i]) continue;
        if (!make(&out[i], tensor ? x->type : 'f', rank, shape)) return false;
        if (tensor || group) continue;
        memcpy(out[i].data, in[i - RUNNING_MEAN_OUT + RUNNING_MEAN].data, r->p.c * sizeof(float));
    }
    bool training = r->p.pass == NL_FORWARD;
    nl_forward_args a = {.x = x->data,
                         .residual = in[RESIDUAL].data,
                         .gamma = in[GAMMA].data,
                         .beta = in[BETA].data,
                         .y = out[OUT].data,
                         .residual_out = out[RESIDUAL_OUT].data,
                         .mean = out[MEAN_OUT].data,
                         .rstd = out[RSTD_OUT].data,
                         .running_mean =
                             training ? out[RUNNING_MEAN_OUT].data : in[RUNNING_MEAN].data,
                         .running_var =
                             training ? out[RUNNING_VAR_OUT].data : in[RUNNING_VAR].data};
    /* For the reference too, because this is what checks the problem. */
    if (nl_forward(r->impl, &r->p, &a, r->threads) != NL_OK) return fail("%s", nl_message());
    return !r->reference || refer(r);
}

/* y first: it is renamed last. */
static bool save(const run *r) {
    const char *paths[ARRAYS];
    npy arrays[ARRAYS];
    char error[512], shape[NPY_SHAPE_TEXT];
    size_t count = 0;
    for (int i = OUT; i < ARRAYS; i++)
        if (r->value[i]) paths[count] = r->value[i], arrays[count++] = r->array[i];
    if (!npy_write_all(paths, arrays, count, error, sizeof error)) return fail("%s", error);
    npy_shape_text(&r->array[X], shape);
    fprintf(stderr, "%s %s %s %s with %s%s%s: wrote %s\n", nl_op_name(r->p.op),
            nl_pass_name(r->p.pass), nl_dtype_name(r->p.dtype), shape,
            r->reference ? "the long double reference" : r->impl->name, r->reference ? "" : "@",
            r->reference ? "" : r->impl->isa, r->value[OUT]);
    return true;
}

int verb_run(int argc, char **argv) {
    run r = {0};
    bool ok = read_options(argc, argv, &r);
    if (ok && r.value[HELP]) return fputs(usage, stdout), NL_EXIT_OK;
    ok = ok && check_options(&r);
    if (!ok) fputs("see normlab run --help\n", stderr);
    ok = ok && load(&r) && choose(&r) && compute(&r) && save(&r);
    for (int i = 0; i < ARRAYS; i++) npy_free(&r.array[i]);
    return ok ? NL_EXIT_OK : NL_EXIT_USAGE;
}
