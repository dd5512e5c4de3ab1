/* `normlab judge`: is anybody's output right, and if not, by what mechanism is it wrong?
 * SPDX-License-Identifier: MIT */
#include "base/npy_read.h"
#include "cases/names.h"
#include "verbs/arrays.h"
#include "verbs/judgement.h"
#include "verbs/options.h"
#include "verbs/verbs.h"

#include <stdio.h>
#include <string.h>

static const char purpose[] =
    "normlab judge LAYER --x FILE.npy --y FILE.npy [options]\n"
    "\n"
    "Is y the output of LAYER on x? Scores any framework's output against the reference, in the\n"
    "units of `normlab check` and within the bound of a two-pass with one accumulator. Tests\n"
    "known mistakes to explain a large error.\n"
    "Arrays are float16, float32 or float64; y has the shape of x.\n";
static const char usage[] =
    "  --rounded-to TYPE          f32, f16 or bf16: the type of y before it was saved as a wider "
    "one\n"
    "                             default: its own type; float64 is judged as float32\n"
    "  --csv FILE                 the findings, one line for each mistake that was tried\n"
    "\n"
    "  normlab judge layernorm --x x.npy --gamma g.npy --beta b.npy --eps 1e-5 --y theirs.npy\n"
    "  normlab judge rmsnorm --x x.npy --gamma g.npy --rounded-to bf16 --casting before-weight \\\n"
    "      --y theirs.npy\n"
    "\n"
    "Exit codes: 0 within the bound, 1 beyond it or no bound to judge by, 2 bad usage or input.\n";

enum { THEIRS = OWN, ROUNDED_TO, CSV, OPTIONS };

static const array_option own[OPTIONS - OWN] = {
    [THEIRS - OWN] = {"y", NL_X, false, IN_X},
    [ROUNDED_TO - OWN] = {"rounded-to", NL_X, false, IN_X},
    [CSV - OWN] = {"csv", NL_X, false, IN_X},
};

static bool check_options(arrays *a) {
    if (!arrays_layer(a)) return false;
    if (!a->value[THEIRS]) return options_fail("--y FILE.npy is missing: the output to judge");
    if (!arrays_check(a)) return false;
    const char *csv = a->value[CSV];
    if (csv && strcmp(csv, "-") == 0)
        return options_fail("--csv -: standard output has the report, name a file");
    for (int i = 0; csv && i < CSV; i++)
        if ((i < INPUTS || i == THEIRS) && a->value[i] && strcmp(a->value[i], csv) == 0)
            return options_fail("--csv %s is an input", csv);
    return true;
}

static bool load(arrays *a) {
    char error[512], shape[NPY_SHAPE_TEXT], other[NPY_SHAPE_TEXT];
    npy *y = &a->array[THEIRS];
    const char *to = a->value[ROUNDED_TO];
    if (!arrays_load(a)) return false;
    if (!npy_read(a->value[THEIRS], y, error, sizeof error)) return options_fail("--y %s", error);
    npy_shape_text(&a->array[IN_X], shape), npy_shape_text(y, other);
    if (strcmp(shape, other) != 0)
        return options_fail("--y %s has shape %s; x has %s", a->value[THEIRS], other, shape);
    if (y->count == 0) return options_fail("x of shape %s is empty: nothing to judge", shape);
    if (nl_layers[a->p.op].running && a->p.pass == NL_FORWARD && nl_group_size(&a->p) == 1)
        return options_fail("x of shape %s has one value a channel: training takes more than one "
                            "value",
                            shape);
    const nl_dtype its = a->p.dtype = npy_type_of(y->type)->dtype;
    if (!to) return true;
    for (nl_dtype t = 0; t < NL_DTYPES; t++) {
        if (strcmp(to, nl_dtype_name(t)) != 0) continue;
        if (its != NL_F32 && t != its)
            return options_fail("--rounded-to %s: %s is %s", to, a->value[THEIRS],
                                nl_dtype_name(its));
        return a->p.dtype = t, true;
    }
    return options_fail("--rounded-to %s: %s", to, dtype_names());
}

static const float *floats(const arrays *a, int i) {
    return a->array[i].data;
}

/* False: out of memory, or the CSV cannot be written. */
static bool judge(const arrays *a, bool *right) {
    const submission of = {.p = a->p,
                           .x = &a->array[IN_X],
                           .y = &a->array[THEIRS],
                           .residual = &a->array[IN_RESIDUAL],
                           .gamma = floats(a, IN_GAMMA),
                           .beta = floats(a, IN_BETA),
                           .running_mean = floats(a, IN_RUNNING_MEAN),
                           .running_var = floats(a, IN_RUNNING_VAR)};
    judgement j;
    bool ok = true;
    if (!judgement_make(&j, &of))
        return options_fail("out of memory for %zu elements", of.x->count);
    judgement_print(&j, a->value[THEIRS], stdout);
    if (a->value[CSV]) {
        FILE *csv = fopen(a->value[CSV], "w");
        if (csv) judgement_csv(&j, csv);
        bool lost = csv && ferror(csv);
        ok = (csv && fclose(csv) == 0 && !lost) ||
             options_fail("--csv %s: cannot write it", a->value[CSV]);
    }
    *right = j.right;
    judgement_free(&j);
    return ok;
}

int verb_judge(int argc, char **argv) {
    arrays a = {.own = own, .own_count = OPTIONS - OWN};
    bool right = false;
    int code = arrays_options(argc, argv, &a);
    if (code == OPTIONS_HELP) return printf("%s%s%s", purpose, arrays_usage, usage), NL_EXIT_OK;
    if (code != OPTIONS_DONE) return code;
    if (!check_options(&a)) return options_see_help();
    bool ok = load(&a) && judge(&a, &right);
    arrays_free(&a);
    return !ok ? NL_EXIT_USAGE : right ? NL_EXIT_OK : NL_EXIT_FAILED;
}
