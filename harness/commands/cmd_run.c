/* `normlab run`: computes a layer on the user's own arrays. Checks every input and computes
 * everything before it writes the first output. SPDX-License-Identifier: MIT */
#include "cli/arrays.h"
#include "cli/case_options.h"
#include "cli/options.h"
#include "commands/commands.h"
#include "verify/expected.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char purpose[] = "normlab run LAYER --x FILE --out FILE [options]\n"
                              "normlab run LAYER --x FILE --dy FILE --out FILE [options]\n"
                              "\n"
                              "Computes y, or with --dy the gradients dx, dgamma and dbeta, from "
                              "arrays that numpy.save made.\n";
static const char usage[] =
    "  --dy FILE                  backward: --out gets dx; statistics are computed from x\n"
    "  --dresidual FILE           with --dy: added to dx\n"
    "  --impl NAME[@ISA]          from `normlab list`; best (default); reference (long double)\n"
    "  --load FILE                adds the kernels of FILE.so or FILE.c (`normlab bench --help`)\n"
    "  --threads N                at most N threads        default: 1\n"
    "  --momentum NUMBER          weight of new values in running statistics   default: 0.1\n"
    "  --residual-out FILE        x + residual, rounded to the type of x\n"
    "  --mean-out FILE, --rstd-out FILE                      per row, or per channel of batchnorm\n"
    "  --running-mean-out FILE, --running-var-out FILE       the updated running statistics\n"
    "  --dgamma-out FILE, --dbeta-out FILE                   with --dy: gradients shaped as gamma\n"
    "  --dgate-out FILE                                      with --dy and --gate\n"
    "\n"
    "  normlab run layernorm --x x.npy --gamma gamma.npy --beta beta.npy --out y.npy\n"
    "  normlab run layernorm --x x.npy --gamma gamma.npy --dy dy.npy --out dx.npy \\\n"
    "      --dgamma-out dgamma.npy --dbeta-out dbeta.npy\n"
    "  normlab run layernorm --x images.npy --axes -3,-2,-1 --out y.npy\n"
    "  normlab run rmsnorm --x x.npy --residual r.npy --casting before-weight --out y.npy\n"
    "  normlab run batchnorm --x x.npy --inference --running-mean m.npy --running-var v.npy \\\n"
    "      --out y.npy\n";

/* The options that only `run` has: first the inputs, then the outputs, then all others. */
enum { DY = OWN, DRESIDUAL, OUT };
enum { RESIDUAL_OUT = OUT + 1, MEAN_OUT, RSTD_OUT, RUNNING_MEAN_OUT, RUNNING_VAR_OUT };
enum { DGAMMA_OUT = RUNNING_VAR_OUT + 1, DBETA_OUT, DGATE_OUT, ARRAYS };
enum { IMPL = ARRAYS, THREADS, MOMENTUM, LOAD, OPTIONS };

static array_option own[OPTIONS - OWN] = {
    [DY - OWN] = {"dy", NL_DY, false, IN_X},
    [DRESIDUAL - OWN] = {"dresidual", NL_RESIDUAL, false, DY},
    [OUT - OWN] = {"out", NL_Y, true, IN_X}, /* with --dy: NL_DX */
    [RESIDUAL_OUT - OWN] = {"residual-out", NL_RESIDUAL_OUT, true, IN_RESIDUAL},
    [MEAN_OUT - OWN] = {"mean-out", NL_MEAN, true, IN_X},
    [RSTD_OUT - OWN] = {"rstd-out", NL_RSTD, true, IN_X},
    [RUNNING_MEAN_OUT - OWN] = {"running-mean-out", NL_RUNNING_MEAN, true, IN_RUNNING_MEAN},
    [RUNNING_VAR_OUT - OWN] = {"running-var-out", NL_RUNNING_VAR, true, IN_RUNNING_VAR},
    [DGAMMA_OUT - OWN] = {"dgamma-out", NL_DGAMMA, true, DY},
    [DBETA_OUT - OWN] = {"dbeta-out", NL_DBETA, true, DY},
    [DGATE_OUT - OWN] = {"dgate-out", NL_DGATE, true, DY},
    [IMPL - OWN] = {"impl", NL_X, false, IN_X},
    [THREADS - OWN] = {"threads", NL_X, false, IN_X},
    [MOMENTUM - OWN] = {"momentum", NL_RUNNING_MEAN, true, IN_RUNNING_MEAN},
    [LOAD - OWN] = {ARRAYS_LOAD, NL_X, false, IN_X},
};

typedef struct computation {
    nl_problem p;
    const nl_impl *impl;
    bool reference; /* --impl reference: the reference computes the outputs */
    int threads;
    void *in[NL_ARGS], *out[NL_ARGS]; /* tensors have p.dtype, vectors are floats; NULL: absent */
} computation;

typedef struct run {
    arrays a;
    computation c;
    npy out[NL_ARGS];
} run;

/* Finds the folder of a path, and the name in this folder. */
static bool find_folder(const char *path, struct stat *folder, const char **name) {
    char text[4096];
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    snprintf(text, sizeof text, "%.*s", slash ? (int)(*name - path) : 1, slash ? path : ".");
    return stat(text, folder) == 0;
}

/* Do two paths name one file, which need not exist? */
static bool is_one_file(const char *a, const char *b) {
    struct stat x, y;
    const char *one, *other;
    const bool there = stat(a, &x) == 0;
    if (there != (stat(b, &y) == 0)) return false;
    if (!there &&
        (!find_folder(a, &x, &one) || !find_folder(b, &y, &other) || strcmp(one, other) != 0))
        return false;
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Is the file to write also an input? */
static bool replaces_inputs(const run *r, const char *out) {
    for (int i = IN_X; i < OUT; i++)
        if (r->a.value[i] && is_one_file(r->a.value[i], out)) return true;
    return false;
}

static bool check_outputs(run *r) {
    const char *const *value = r->a.value;
    if (!value[OUT]) return options_fail("--out FILE.npy is missing: where to write y or dx");
    for (int i = OUT; i < ARRAYS; i++) {
        const char *name = own[i - OWN].name;
        if (value[i] && strcmp(value[i], "-") == 0)
            return options_fail("--%s -: standard output is not supported, name a file", name);
        for (int j = OUT; value[i] && j < i; j++)
            if (value[j] && is_one_file(value[i], value[j]))
                return options_fail("--%s and --%s name the same file, %s", own[j - OWN].name, name,
                                    value[i]);
        if (value[i] && replaces_inputs(r, value[i]))
            return options_fail("--%s %s is an input, and would be replaced: name another file",
                                name, value[i]);
    }
    return true;
}

static bool check_options(run *r) {
    const char *const *value = r->a.value;
    double momentum = 0.1, threads = 1;
    if (!arrays_layer(&r->a) || !check_outputs(r)) return false;
    r->a.backward = value[DY];
    own[OUT - OWN].arg = r->a.backward ? NL_DX : NL_Y;
    if (!arrays_check(&r->a)) return false;
    if (r->a.p.pass == NL_FORWARD && value[IN_RUNNING_MEAN] &&
        !(value[RUNNING_MEAN_OUT] && value[RUNNING_VAR_OUT]))
        return options_fail("--running-mean: training updates the running statistics, so give "
                            "--running-mean-out and --running-var-out or, to normalize by them, "
                            "--inference");
    if (!arrays_number(&r->a, MOMENTUM, 0, 1, false, &momentum) ||
        !arrays_number(&r->a, THREADS, 1, 4096, true, &threads))
        return false;
    r->a.p.momentum = (float)momentum, r->c.threads = (int)threads;
    return true;
}

/* Notes a negative variance, which comes from a wrong file; eps may still make the sum positive. */
static void note_negative(const char *file, const npy *var) {
    const float *v = var->data;
    for (size_t i = 0; v && i < var->count; i++) {
        if (!(v[i] < 0)) continue;
        fprintf(stderr,
                "%s: number %zu is %g, but a variance is not negative: y is NaN if adding "
                "eps does not make it positive\n",
                file, i, (double)v[i]);
        return;
    }
}

/* Reads the inputs; all tensors must have x's type. */
static bool load(run *r) {
    npy *x = &r->a.array[IN_X];
    if (!arrays_load(&r->a)) return false;
    if (x->type == 'd')
        fprintf(stderr, "%s is float64: computed as float32, and --out is float32\n",
                r->a.value[IN_X]);
    for (int i = 0; i < OUT; i++) {
        npy *a = &r->a.array[i];
        if (!a->data || nl_args[arrays_spec(&r->a, i)->arg].extent != NL_TENSOR) continue;
        if (i != IN_X && !arrays_same_type(&r->a, i)) return false;
    }
    for (int i = 0; i < OUT; i++)
        if (r->a.array[i].data && r->a.array[i].type == 'd' &&
            !arrays_to_float(r->a.value[i], &r->a.array[i]))
            return false;
    note_negative(r->a.value[IN_RUNNING_VAR], &r->a.array[IN_RUNNING_VAR]);
    return true;
}

static bool choose(run *r) {
    const char *given = r->a.value[IMPL] ? r->a.value[IMPL] : "best", *at = strchr(given, '@');
    char name[128];
    computation *c = &r->c;
    c->p = r->a.p;
    c->reference = strcmp(given, "reference") == 0;
    if (c->reference || strcmp(given, "best") == 0) {
        c->impl = nl_best(&c->p, c->threads);
    } else {
        snprintf(name, sizeof name, "%.*s", at ? (int)(at - given) : (int)strlen(given), given);
        c->impl = nl_find(name, at ? at + 1 : NULL);
        if (!c->impl) return impl_unknown(given, strlen(given)), false;
    }
    if (c->impl && nl_accepts(c->impl, &c->p) && nl_isa_runs(c->impl->isa)) return true;
    options_fail("--impl %s does not accept the problem; these accept %s %s in %s here:", given,
                 nl_op_name(c->p.op), nl_pass_name(c->p.pass), nl_dtype_name(c->p.dtype));
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *impl = nl_impl_at(i);
        if (nl_accepts(impl, &c->p) && nl_isa_runs(impl->isa))
            fprintf(stderr, "  %s@%s\n", impl->name, impl->isa);
    }
    fprintf(stderr, "  best\n  reference\n");
    return false;
}

/* Returns the OR of NL_BIT() of the outputs to write. */
static unsigned wanted(const run *r) {
    unsigned all = 0;
    for (int i = OUT; i < ARRAYS; i++)
        if (r->a.value[i]) all |= NL_BIT(own[i - OWN].arg);
    return all;
}

/* Allocates an output of NaN, all bits set: an unwritten element must not look like a result. */
static bool make(run *r, nl_arg arg) {
    const bool tensor = nl_args[arg].extent == NL_TENSOR;
    npy *a = &r->out[arg];
    *a = (npy){.type = tensor ? r->a.array[IN_X].type : 'f', .count = 1};
    arrays_shape(&r->a, arg, a);
    for (size_t i = 0; i < a->rank; i++) a->count *= a->shape[i];
    size_t bytes = a->count * npy_type_of(a->type)->bytes;
    a->data = malloc(bytes + 1);
    if (!a->data) return options_fail("out of memory for an output of %zu bytes", bytes);
    const bool no_terms = (arg == NL_DGAMMA || arg == NL_DBETA) && !r->c.p.n;
    memset(a->data, no_terms ? 0 : 0xff, bytes);
    if (r->c.in[arg]) memcpy(a->data, r->c.in[arg], bytes); /* the old running statistics */
    r->c.out[arg] = a->data;
    return true;
}

static bool make_arrays(run *r) {
    for (int i = 0; i < OUT; i++)
        if (r->a.array[i].data) r->c.in[arrays_spec(&r->a, i)->arg] = r->a.array[i].data;
    const unsigned all = wanted(r);
    for (nl_arg a = 0; a < NL_ARGS; a++)
        if (all & NL_BIT(a) && !make(r, a)) return false;
    if (r->c.p.pass == NL_BACKWARD) { /* computes all gradients, also those that are not saved */
        const unsigned needs = nl_takes(r->c.p.op, NL_BACKWARD) & nl_passes[NL_BACKWARD].writes;
        for (nl_arg a = 0; a < NL_ARGS; a++)
            if (needs & ~all & NL_BIT(a) && !make(r, a)) return false;
    }
    return true;
}

static bool no_memory(void) {
    return options_fail("out of memory for the computation");
}

/* Sets the statistics that forward would have saved. y: working memory for forward's output. */
static nl_status save_statistics(const computation *c, float *mean, float *rstd, void *y) {
    nl_problem p = c->p;
    p.pass = NL_FORWARD;
    const nl_forward_args a = {.x = c->in[NL_X],
                               .gate = c->in[NL_GATE],
                               .y = y,
                               .mean = mean,
                               .rstd = rstd};
    return nl_forward(NULL, &p, &a, c->threads);
}

static nl_status backward(const computation *c, float *statistics, void *y) {
    float *rstd = statistics + nl_group_count(&c->p);
    float *mean = nl_layers[c->p.op].centred ? statistics : NULL;
    const nl_status status = save_statistics(c, mean, rstd, y);
    if (status != NL_OK) return status;
    const nl_backward_args a = {.x = c->in[NL_X],
                                .dy = c->in[NL_DY],
                                .dresidual = c->in[NL_RESIDUAL],
                                .gate = c->in[NL_GATE],
                                .gamma = c->in[NL_GAMMA],
                                .mean = mean,
                                .rstd = rstd,
                                .dx = c->out[NL_DX],
                                .dgate = c->out[NL_DGATE],
                                .dgamma = c->out[NL_DGAMMA],
                                .dbeta = c->out[NL_DBETA]};
    return nl_backward(c->impl, &c->p, &a, c->threads);
}

static nl_status forward(const computation *c) {
    const bool training = c->p.pass == NL_FORWARD;
    const nl_forward_args a = {.x = c->in[NL_X],
                               .residual = c->in[NL_RESIDUAL],
                               .gate = c->in[NL_GATE],
                               .gamma = c->in[NL_GAMMA],
                               .beta = c->in[NL_BETA],
                               .y = c->out[NL_Y],
                               .residual_out = c->out[NL_RESIDUAL_OUT],
                               .mean = c->out[NL_MEAN],
                               .rstd = c->out[NL_RSTD],
                               .running_mean = (training ? c->out : c->in)[NL_RUNNING_MEAN],
                               .running_var = (training ? c->out : c->in)[NL_RUNNING_VAR]};
    return nl_forward(c->impl, &c->p, &a, c->threads);
}

static void put_tensor(const computation *c, nl_arg to, const double *from) {
    for (size_t i = 0; c->out[to] && i < c->p.n * c->p.c * c->p.s; i++)
        nl_store(c->p.dtype, c->out[to], i, (float)ref_round(c->p.dtype, from[i]));
}

static void put_y(const computation *c, const ref_outputs *o) {
    const nl_problem *p = &c->p;
    const float *gamma = c->in[NL_GAMMA], *beta = c->in[NL_BETA];
    for (size_t i = 0; c->out[NL_Y] && i < p->n * p->c * p->s; i++) {
        const size_t j = nl_feature_of(p, i);
        long double normal = o->xhat[i];
        if (p->casting == NL_CAST_BEFORE_WEIGHT) normal = ref_round(p->dtype, normal);
        const long double y = ref_factor(p, gamma, o, i) * normal + (beta ? beta[j] : 0);
        nl_store(p->dtype, c->out[NL_Y], i, (float)ref_round(p->dtype, y));
    }
}

static bool by_reference(const computation *c, float *statistics) {
    const nl_problem *p = &c->p;
    const nl_case as_case = {.problem = *p, .residual = c->in[NL_RESIDUAL] != NULL};
    const bool back = p->pass == NL_BACKWARD;
    nl_data data = {.gamma = c->in[NL_GAMMA], .beta = c->in[NL_BETA]};
    answer of;
    memcpy(data.input, c->in, sizeof data.input);
    if (back) data.input[NL_RSTD] = statistics;
    if (!answer_make(&as_case, &data, &of)) return no_memory();
    const ref_outputs *o = &of.want;
    if (back)
        put_tensor(c, NL_DX, o->dx), put_tensor(c, NL_DGATE, o->dgate);
    else
        put_y(c, o), put_tensor(c, NL_RESIDUAL_OUT, o->sum);
    const long double *from[NL_ARGS] = {[NL_MEAN] = o->mean,
                                        [NL_RSTD] = o->rstd,
                                        [NL_RUNNING_MEAN] = o->running_mean,
                                        [NL_RUNNING_VAR] = o->running_var,
                                        [NL_DGAMMA] = o->dgamma,
                                        [NL_DBETA] = o->dbeta};
    for (nl_arg a = 0; a < NL_ARGS; a++) { /* if n is 0, keeps the implementation's outputs */
        const size_t values = nl_args[a].extent == NL_GROUPS ? nl_group_count(p) : p->c;
        for (size_t i = 0; from[a] && c->out[a] && p->n && i < values; i++)
            ((float *)c->out[a])[i] = (float)from[a][i];
    }
    return answer_free(&of), true;
}

/* Fills the outputs. False: after a message. */
static bool compute(const computation *c) {
    const nl_problem *p = &c->p;
    const bool back = p->pass == NL_BACKWARD;
    float *statistics = calloc(2 * nl_group_count(p) + 1, sizeof *statistics);
    void *y = back ? malloc(nl_bytes(p, NL_TENSOR) + 1) : NULL;
    bool ok = statistics && (y || !back);
    if (!ok) {
        no_memory();
    } else { /* --impl reference needs this call too: the library checks the problem */
        ok = (back ? backward(c, statistics, y) : forward(c)) == NL_OK ||
             options_fail("%s", nl_message());
        ok = ok && (!c->reference || by_reference(c, statistics));
    }
    free(statistics), free(y);
    return ok;
}

/* Lists --out first: npy_write_all() renames from last to first, so --out appears last. */
static bool save(const run *r) {
    const char *paths[ARRAYS];
    npy all[NL_ARGS];
    char error[512], shape[NPY_SHAPE_TEXT];
    size_t count = 0;
    for (int i = OUT; i < ARRAYS; i++)
        if (r->a.value[i]) paths[count] = r->a.value[i], all[count++] = r->out[own[i - OWN].arg];
    if (!npy_write_all(paths, all, count, error, sizeof error)) return options_fail("%s", error);
    const computation *c = &r->c;
    npy_shape_text(&r->a.array[IN_X], shape);
    fprintf(stderr, "%s %s %s %s with %s%s%s: wrote %s\n", nl_op_name(c->p.op),
            nl_pass_name(c->p.pass), nl_dtype_name(c->p.dtype), shape,
            c->reference ? "the long double reference" : c->impl->name, c->reference ? "" : "@",
            c->reference ? "" : c->impl->isa, r->a.value[OUT]);
    return true;
}

int cmd_run(int argc, char **argv) {
    run r = {.a = {.own = own, .own_inputs = OUT - OWN, .own_count = OPTIONS - OWN}};
    int code = arrays_options(argc, argv, &r.a);
    if (code == OPTIONS_HELP) return printf("%s%s%s", purpose, arrays_usage, usage), NL_EXIT_OK;
    if (code != OPTIONS_DONE) return code;
    if (!check_options(&r)) return options_see_help();
    bool ok = load(&r) && choose(&r) && make_arrays(&r) && compute(&r.c) && save(&r);
    arrays_free(&r.a);
    for (nl_arg a = 0; a < NL_ARGS; a++) npy_free(&r.out[a]);
    return ok ? NL_EXIT_OK : NL_EXIT_USAGE;
}
