/* `normlab run`: computes a layer on the user's own arrays. Checks every input and computes
 * everything before it writes the first output. SPDX-License-Identifier: MIT */
#include "base/npy_write.h"
#include "verbs/arrays.h"
#include "verbs/options.h"
#include "dtype.h"
#include "reference.h"
#include "verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char purpose[] =
    "normlab run LAYER --x FILE.npy --out FILE.npy [options]\n"
    "\n"
    "Computes a layer on arrays of float16, float32 or float64 (computed as float32).\n";
static const char usage[] =
    "  --impl NAME[@ISA]          of `normlab list`; best (the default); reference: long double\n"
    "  --load FILE.so             also the kernels of a library (normlab_kernel.h)\n"
    "  --threads N                at most this many        default: 1\n"
    "  --momentum NUMBER          weight of the new value in the running ones    default: 0.1\n"
    "  --residual-out FILE        x + residual, rounded to the type of x\n"
    "  --mean-out FILE, --rstd-out FILE                      per row, or per channel of batchnorm\n"
    "  --running-mean-out FILE, --running-var-out FILE       the updated running statistics\n"
    "\n"
    "  normlab run layernorm --x x.npy --gamma gamma.npy --beta beta.npy --out y.npy\n"
    "  normlab run rmsnorm --x x.npy --residual r.npy --casting before-weight --out y.npy\n"
    "  normlab run batchnorm --x x.npy --inference --running-mean m.npy --running-var v.npy \\\n"
    "      --out y.npy\n";

/* Its own options; the first six name an output. */
enum { OUT = OWN, RESIDUAL_OUT, MEAN_OUT, RSTD_OUT, RUNNING_MEAN_OUT, RUNNING_VAR_OUT, ARRAYS };
enum { IMPL = ARRAYS, THREADS, MOMENTUM, LOAD, OPTIONS };

static const array_option own[OPTIONS - OWN] = {
    [OUT - OWN] = {"out", NL_Y, true, IN_X},
    [RESIDUAL_OUT - OWN] = {"residual-out", NL_RESIDUAL_OUT, true, IN_RESIDUAL},
    [MEAN_OUT - OWN] = {"mean-out", NL_MEAN, true, IN_X},
    [RSTD_OUT - OWN] = {"rstd-out", NL_RSTD, true, IN_X},
    [RUNNING_MEAN_OUT - OWN] = {"running-mean-out", NL_RUNNING_MEAN, true, IN_RUNNING_MEAN},
    [RUNNING_VAR_OUT - OWN] = {"running-var-out", NL_RUNNING_VAR, true, IN_RUNNING_VAR},
    [IMPL - OWN] = {"impl", NL_X, false, IN_X},
    [THREADS - OWN] = {"threads", NL_X, false, IN_X},
    [MOMENTUM - OWN] = {"momentum", NL_RUNNING_MEAN, true, IN_RUNNING_MEAN},
    [LOAD - OWN] = {ARRAYS_LOAD, NL_X, false, IN_X},
};

typedef struct run {
    arrays a;
    const nl_impl *impl;
    bool reference;
    int threads;
} run;

static bool check_options(run *r) {
    const char *const *value = r->a.value;
    double momentum = 0.1, threads = 1;
    if (!arrays_layer(&r->a)) return false;
    if (!value[OUT]) return options_fail("--out FILE.npy is missing: where to write y");
    for (int i = OUT; i < ARRAYS; i++) {
        if (value[i] && strcmp(value[i], "-") == 0)
            return options_fail("--%s -: standard output is not supported, name a file",
                                own[i - OWN].name);
        for (int j = OUT; value[i] && j < i; j++)
            if (value[j] && strcmp(value[i], value[j]) == 0)
                return options_fail("--%s and --%s name the same file, %s", own[j - OWN].name,
                                    own[i - OWN].name, value[i]);
    }
    if (!arrays_check(&r->a)) return false;
    if (r->a.p.pass == NL_FORWARD && value[IN_RUNNING_MEAN] &&
        !(value[RUNNING_MEAN_OUT] && value[RUNNING_VAR_OUT]))
        return options_fail("--running-mean: training updates the running statistics, give "
                            "--running-mean-out and --running-var-out; or --inference to use them");
    if (!arrays_number(&r->a, MOMENTUM, 0, 1, false, &momentum) ||
        !arrays_number(&r->a, THREADS, 1, 4096, true, &threads))
        return false;
    r->a.p.momentum = (float)momentum, r->threads = (int)threads;
    return true;
}

static bool load(run *r) {
    npy *x = &r->a.array[IN_X], *residual = &r->a.array[IN_RESIDUAL];
    if (!arrays_load(&r->a)) return false;
    if (x->type != 'd') return true;
    fprintf(stderr, "%s is float64: computed as float32, and y is float32\n", r->a.value[IN_X]);
    return arrays_to_float(r->a.value[IN_X], x) &&
           (!residual->data || arrays_to_float(r->a.value[IN_RESIDUAL], residual));
}

/* Allocates an output of NaN, all bits set: an unwritten element must not look like a result. */
static bool make(const arrays *of, nl_arg arg, npy *a) {
    const bool tensor = nl_args[arg].extent == NL_TENSOR;
    *a = (npy){.type = tensor ? of->array[IN_X].type : 'f', .count = 1};
    arrays_shape(of, arg, a);
    for (size_t i = 0; i < a->rank; i++) a->count *= a->shape[i];
    size_t bytes = npy_type_of(a->type)->bytes;
    a->data = malloc(a->count * bytes + 1);
    if (!a->data) return options_fail("out of memory for an output of %zu bytes", a->count * bytes);
    memset(a->data, 0xff, a->count * bytes);
    return true;
}

static bool choose(run *r) {
    const char *given = r->a.value[IMPL] ? r->a.value[IMPL] : "best", *at = strchr(given, '@');
    char name[128];
    r->reference = strcmp(given, "reference") == 0;
    if (r->reference || strcmp(given, "best") == 0) {
        r->impl = nl_best(&r->a.p, r->threads);
    } else {
        snprintf(name, sizeof name, "%.*s", at ? (int)(at - given) : (int)strlen(given), given);
        r->impl = nl_find(name, at ? at + 1 : NULL);
    }
    if (r->impl && nl_accepts(r->impl, &r->a.p) && nl_isa_runs(r->impl->isa)) return true;
    options_fail("--impl %s %s; these accept %s %s in %s here:", given,
                 r->impl ? "does not accept the problem" : "is unknown", nl_op_name(r->a.p.op),
                 nl_pass_name(r->a.p.pass), nl_dtype_name(r->a.p.dtype));
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *impl = nl_impl_at(i);
        if (nl_accepts(impl, &r->a.p) && nl_isa_runs(impl->isa))
            fprintf(stderr, "  %s@%s\n", impl->name, impl->isa);
    }
    fprintf(stderr, "  best\n  reference\n");
    return false;
}

/* Replaces the implementation's outputs with the reference's. */
static bool compute_reference(run *r) {
    const nl_problem *p = &r->a.p;
    npy *in = r->a.array, *out = r->a.array;
    size_t count = in[IN_X].count, groups = ref_groups(p);
    double *d = calloc(count + 1, 4 * sizeof *d);
    long double *g = calloc(groups + 1, 6 * sizeof *g);
    if (!d || !g) return free(d), free(g), options_fail("out of memory for the reference");
    const double *residual = in[IN_RESIDUAL].data ? d + count : NULL;
    ref_inputs inputs = {.x = d,
                         .residual = residual,
                         .gamma = in[IN_GAMMA].data,
                         .beta = in[IN_BETA].data,
                         .running_mean = in[IN_RUNNING_MEAN].data,
                         .running_var = in[IN_RUNNING_VAR].data};
    ref_outputs o = {.xhat = d + 2 * count,
                     .sum = d + 3 * count,
                     .mean = g,
                     .var = g + groups,
                     .rstd = g + 2 * groups,
                     .magnitude = g + 3 * groups};
    if (out[RUNNING_MEAN_OUT].data) o.running_mean = g + 4 * groups, o.running_var = g + 5 * groups;
    for (size_t i = 0; i < count; i++) {
        d[i] = nl_load(p->dtype, in[IN_X].data, i);
        if (residual) d[count + i] = nl_load(p->dtype, in[IN_RESIDUAL].data, i);
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
    return ok || options_fail("out of memory for the reference");
}

static bool compute(run *r) {
    npy *in = r->a.array, *out = r->a.array, *x = &in[IN_X];
    for (int i = OUT; i < ARRAYS; i++) {
        if (!r->a.value[i]) continue;
        if (!make(&r->a, own[i - OWN].arg, &out[i])) return false;
        if (i < RUNNING_MEAN_OUT) continue;
        memcpy(out[i].data, in[i - RUNNING_MEAN_OUT + IN_RUNNING_MEAN].data,
               r->a.p.c * sizeof(float));
    }
    bool training = r->a.p.pass == NL_FORWARD;
    nl_forward_args a = {.x = x->data,
                         .residual = in[IN_RESIDUAL].data,
                         .gamma = in[IN_GAMMA].data,
                         .beta = in[IN_BETA].data,
                         .y = out[OUT].data,
                         .residual_out = out[RESIDUAL_OUT].data,
                         .mean = out[MEAN_OUT].data,
                         .rstd = out[RSTD_OUT].data,
                         .running_mean =
                             training ? out[RUNNING_MEAN_OUT].data : in[IN_RUNNING_MEAN].data,
                         .running_var =
                             training ? out[RUNNING_VAR_OUT].data : in[IN_RUNNING_VAR].data};
    /* Called for the reference too, because nl_forward checks the problem. */
    if (nl_forward(r->impl, &r->a.p, &a, r->threads) != NL_OK)
        return options_fail("%s", nl_message());
    return !r->reference || compute_reference(r);
}

/* y comes first, so that it is renamed last. */
static bool save(const run *r) {
    const char *paths[ARRAYS];
    npy arrays[ARRAYS];
    char error[512], shape[NPY_SHAPE_TEXT];
    size_t count = 0;
    for (int i = OUT; i < ARRAYS; i++)
        if (r->a.value[i]) paths[count] = r->a.value[i], arrays[count++] = r->a.array[i];
    if (!npy_write_all(paths, arrays, count, error, sizeof error)) return options_fail("%s", error);
    npy_shape_text(&r->a.array[IN_X], shape);
    fprintf(stderr, "%s %s %s %s with %s%s%s: wrote %s\n", nl_op_name(r->a.p.op),
            nl_pass_name(r->a.p.pass), nl_dtype_name(r->a.p.dtype), shape,
            r->reference ? "the long double reference" : r->impl->name, r->reference ? "" : "@",
            r->reference ? "" : r->impl->isa, r->a.value[OUT]);
    return true;
}

int verb_run(int argc, char **argv) {
    run r = {.a = {.own = own, .own_count = OPTIONS - OWN}};
    int code = arrays_options(argc, argv, &r.a);
    if (code == OPTIONS_HELP) return printf("%s%s%s", purpose, arrays_usage, usage), NL_EXIT_OK;
    if (code != OPTIONS_DONE) return code;
    if (!check_options(&r)) return options_see_help();
    bool ok = load(&r) && choose(&r) && compute(&r) && save(&r);
    arrays_free(&r.a);
    return ok ? NL_EXIT_OK : NL_EXIT_USAGE;
}
