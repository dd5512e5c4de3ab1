/* `normlab judge`: anybody's output against the reference, by the same bound as our own, and the
 * likely mechanism of its error. SPDX-License-Identifier: MIT */
#include "judge/judge.h"
#include "dtype.h"
#include "verbs/verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "normlab judge LAYER --x FILE.npy --y FILE.npy [options]\n"
    "\n"
    "Is y what LAYER makes of x? Scores any framework's output by the reference, units and bound "
    "of\n"
    "`normlab check` (that of a two-pass with one accumulator), and when there is an error to\n"
    "explain, tries known mistakes until one of them gives the same numbers.\n"
    "LAYER is batchnorm, layernorm, rmsnorm or qwen2_rmsnorm (also: gemma, qwen3next), whose gain\n"
    "is 1 + gamma. Arrays are float16, float32 or float64; y has the shape of x.\n"
    "\n"
    "  --gamma FILE, --beta FILE  gain and bias, (C,)      default: a gain of one, a bias of zero\n"
    "  --residual FILE            added to x first; its shape and type\n"
    "  --eps NUMBER               inside the root          default: 1e-5\n"
    "  --casting WHERE            last, or before-weight: x's normalized value is rounded as well\n"
    "  --rounded-to TYPE          f32, f16 or bf16: what y was before it was saved in a wider "
    "type\n"
    "                             default: its own type; float64 is judged as float32\n"
    "  --inference                batchnorm on --running-mean FILE and --running-var FILE\n"
    "  --csv FILE                 the findings, one line for each mistake that was tried\n"
    "\n"
    "  normlab judge layernorm --x x.npy --gamma g.npy --beta b.npy --eps 1e-5 --y theirs.npy\n"
    "  normlab judge rmsnorm --x x.npy --gamma g.npy --rounded-to bf16 --casting before-weight \\\n"
    "      --y theirs.npy\n"
    "\n"
    "Exit codes: 0 within the bound, 1 outside of it or no bound to judge by, 2 bad usage or "
    "input.\n";

enum { THEIRS = OWN, ROUNDED_TO, CSV, OPTIONS };

static const option_spec own[OPTIONS - OWN] = {
    [THEIRS - OWN] = {"y", NL_X, false, IN_X},
    [ROUNDED_TO - OWN] = {"rounded-to", NL_X, false, IN_X},
    [CSV - OWN] = {"csv", NL_X, false, IN_X},
};

static bool check_options(arrays *a) {
    if (!arrays_layer(a)) return false;
    if (!a->value[THEIRS]) return arrays_fail("--y FILE.npy is missing: the output to judge");
    if (!arrays_check(a)) return false;
    const char *csv = a->value[CSV];
    if (csv && strcmp(csv, "-") == 0)
        return arrays_fail("--csv -: standard output has the report, name a file");
    for (int i = 0; csv && i < CSV; i++)
        if ((i < INPUTS || i == THEIRS) && a->value[i] && strcmp(a->value[i], csv) == 0)
            return arrays_fail("--csv %s is an input", csv);
    return true;
}

static bool load(arrays *a) {
    char error[512], shape[NPY_SHAPE_TEXT], other[NPY_SHAPE_TEXT];
    npy *y = &a->array[THEIRS];
    const char *to = a->value[ROUNDED_TO];
    if (!arrays_load(a)) return false;
    if (!npy_read(a->value[THEIRS], y, error, sizeof error)) return arrays_fail("--y %s", error);
    npy_shape_text(&a->array[IN_X], shape), npy_shape_text(y, other);
    if (strcmp(shape, other) != 0)
        return arrays_fail("--y %s has shape %s; x has %s", a->value[THEIRS], other, shape);
    if (y->count == 0) return arrays_fail("x of shape %s is empty: nothing to judge", shape);
    if (nl_layers[a->p.op].running && a->p.pass == NL_FORWARD && nl_group_size(&a->p) == 1)
        return arrays_fail("x of shape %s has one value a channel: training takes more than one "
                           "value",
                           shape);
    a->p.dtype = y->type == 'e' ? NL_F16 : NL_F32;
    if (!to) return true;
    for (nl_dtype t = 0; t < NL_DTYPES; t++) {
        if (strcmp(to, nl_dtype_name(t)) != 0) continue;
        if (y->type == 'e' && t != NL_F16)
            return arrays_fail("--rounded-to %s: %s is f16", to, a->value[THEIRS]);
        return a->p.dtype = t, true;
    }
    return arrays_fail("--rounded-to %s: f32, f16 or bf16", to);
}

static double element(const npy *a, size_t i) {
    return a->type == 'd'   ? ((double *)a->data)[i]
           : a->type == 'f' ? (double)((float *)a->data)[i]
                            : (double)nl_load(NL_F16, a->data, i);
}

static bool explain(judgement *j) {
    j->right = j->score.judged > 0 && j->score.beyond == 0;
    if (j->right && j->score.largest <= JUDGE_FEW_UNITS) return true;
    j->explained = true;
    if (!mechanism_test(&j->s, j->found, &j->found_count)) return false;
    j->pattern = mechanism_pattern(&j->s, j->score.group_rest);
    j->growth = mechanism_growth(j->score.kappa, j->score.group_rms, j->score.groups);
    j->rest = mechanism_growth(j->score.kappa, j->score.group_rest, j->score.groups);
    return true;
}

/* False: out of memory, or the CSV cannot be written. */
static bool judge(arrays *a, bool *right) {
    nl_problem *p = &a->p;
    npy *in = a->array, *x = &in[IN_X];
    size_t count = x->count, groups = ref_groups(p);
    double *d = calloc(count, 4 * sizeof *d);
    long double *g = calloc(groups, 4 * sizeof *g);
    judgement j = {.a = a, .y_path = a->value[THEIRS]};
    ref_inputs inputs = {.x = d,
                         .residual = in[IN_RESIDUAL].data ? d + count : NULL,
                         .gamma = in[IN_GAMMA].data,
                         .beta = in[IN_BETA].data,
                         .running_mean = in[IN_RUNNING_MEAN].data,
                         .running_var = in[IN_RUNNING_VAR].data};
    ref_outputs want = {.xhat = d + 2 * count,
                        .mean = g,
                        .var = g + groups,
                        .rstd = g + 2 * groups,
                        .magnitude = g + 3 * groups};
    bool low = p->dtype != NL_F32 || x->type == 'e';
    j.s = (subject){.p = p,
                    .in = &inputs,
                    .want = &want,
                    .y = d + 3 * count,
                    .rows_together =
                        !nl_layers[p->op].by_channel && x->rank > 2 ? x->shape[x->rank - 2] : 1,
                    .low = low,
                    .low_type = p->dtype == NL_BF16 ? NL_BF16 : NL_F16};
    for (size_t i = 0; d && i < count; i++) {
        d[i] = element(x, i), d[3 * count + i] = element(&in[THEIRS], i);
        if (inputs.residual) d[count + i] = element(&in[IN_RESIDUAL], i);
    }
    bool ok =
        d && g && ref_compute(p, &inputs, &want, nl_max_threads()) && score_make(&j.s, &j.score);
    ok = (ok && explain(&j)) || arrays_fail("out of memory for %zu elements", count);
    if (ok) judgement_print(&j, stdout);
    if (ok && a->value[CSV]) {
        FILE *csv = fopen(a->value[CSV], "w");
        if (csv) judgement_csv(&j, csv);
        bool lost = csv && ferror(csv);
        ok = (csv && fclose(csv) == 0 && !lost) ||
             arrays_fail("--csv %s: cannot write it", a->value[CSV]);
    }
    *right = j.right;
    free(d), free(g), free(j.score.kappa);
    return ok;
}

int verb_judge(int argc, char **argv) {
    arrays a = {.verb = "judge", .own = own, .own_count = OPTIONS - OWN};
    bool right = false, ok = arrays_options(argc, argv, &a);
    if (ok && a.value[HELP]) return fputs(usage, stdout), NL_EXIT_OK;
    ok = ok && check_options(&a);
    if (!ok) fputs("see normlab judge --help\n", stderr);
    ok = ok && load(&a) && judge(&a, &right);
    arrays_free(&a);
    return !ok ? NL_EXIT_USAGE : right ? NL_EXIT_OK : NL_EXIT_FAILED;
}
