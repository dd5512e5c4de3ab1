/* `normlab judge`: is the output of any program right? If not, which mechanism explains its errors?
 * SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "cli/arrays.h"
#include "judge/judge.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "commands/commands.h"
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char purpose[] =
    "normlab judge LAYER --x FILE.npy --y FILE.npy [options]\n"
    "normlab judge LAYER --x FILE.npy --dy FILE.npy --dx FILE.npy [options]\n"
    "\n"
    "Is y the output of LAYER on x, or dx the gradient? Compares any framework's output with the\n"
    "reference, in the units of `normlab check`. The bound is a two-pass kernel's, with one\n"
    "accumulator. Tests known mistakes to explain a large error.\n"
    "y, dx and dy have the shape of x, and may have another type.\n";
static const char usage[] =
    "  --dgamma FILE, --dbeta FILE  with --dx: the gradients of gamma and beta, (C,)\n"
    "  --dresidual FILE           with --dx: the gradient that was added to dx\n"
    "  --dgate FILE               with --dx: the gradient of the gate\n"
    "  --rounded-to TYPE          f32, f16 or bf16: the type of y or dx before it was saved in a\n"
    "                             wider type\n"
    "                             default: the file's type; float64 is judged as float32\n"
    "  --batch FILE               y or dx of some rows of x, from another batch; compares bits\n"
    "  --first-row N              the first of these rows  default: 0\n"
    "  --csv FILE                 findings as CSV, a line for each mistake that was tried\n"
    "\n"
    "  normlab judge layernorm --x x.npy --gamma g.npy --beta b.npy --eps 1e-5 --y theirs.npy\n"
    "  normlab judge rmsnorm --x x.npy --gamma g.npy --rounded-to bf16 --casting before-weight \\\n"
    "      --y theirs.npy\n"
    "  normlab judge layernorm --x x.npy --y theirs.npy --batch row_5_alone.npy --first-row 5\n"
    "  normlab judge layernorm --x x.npy --gamma g.npy --dy dy.npy --dx dx.npy --dgamma dg.npy\n"
    "\n"
    "Exit codes: 0 if every number that has a bound is within it; 1 if a number is wrong, no\n"
    "number has a bound, or another batch has other bits; 2 bad usage or input.\n";

enum { Y = OWN, DX, DY, DRESIDUAL, DGAMMA, DBETA, DGATE, ARRAYS };
enum { ROUNDED_TO = ARRAYS, BATCH, FIRST_ROW, CSV, OPTIONS };

static const array_option own[OPTIONS - OWN] = {
    [Y - OWN] = {"y", NL_Y, true, IN_X},
    [DX - OWN] = {"dx", NL_DX, true, DY},
    [DY - OWN] = {"dy", NL_DY, false, DX},
    [DRESIDUAL - OWN] = {"dresidual", NL_RESIDUAL, false, DX},
    [DGAMMA - OWN] = {"dgamma", NL_DGAMMA, true, DX},
    [DBETA - OWN] = {"dbeta", NL_DBETA, true, DX},
    [DGATE - OWN] = {"dgate", NL_DGATE, true, DX},
    [ROUNDED_TO - OWN] = {"rounded-to", NL_X, false, IN_X},
    [BATCH - OWN] = {"batch", NL_X, false, IN_X},
    [FIRST_ROW - OWN] = {"first-row", NL_X, false, BATCH},
    [CSV - OWN] = {"csv", NL_X, false, IN_X},
};

/* Returns the option that names the output to judge. */
static int theirs(const arrays *a) {
    return a->backward ? DX : Y;
}

static bool check_options(arrays *a) {
    if (!arrays_layer(a)) return false;
    a->backward = a->value[DX] || a->value[DY];
    if (!a->value[Y] && !a->backward)
        return options_fail("--y FILE.npy is missing: the output to judge; in backward, --dx");
    if (!arrays_check(a)) return false;
    if (a->value[BATCH] && nl_layers[a->p.op].channels_first)
        return options_fail("--batch: %s does not normalize a row by itself", a->layer);
    const char *csv = a->value[CSV];
    if (csv && strcmp(csv, "-") == 0)
        return options_fail("--csv -: standard output has the report, name a file");
    for (int i = 0; csv && i <= BATCH; i++)
        if (a->value[i] && strcmp(a->value[i], csv) == 0)
            return options_fail("--csv %s is an input", csv);
    return true;
}

/* An output saved in a wider type is judged in that type, unless --rounded-to names another. */
static void note_types(const arrays *a) {
    const int y = theirs(a);
    const npy_type *of_x = npy_type_of(a->array[IN_X].type), *its = npy_type_of(a->array[y].type);
    if (of_x == its || a->value[ROUNDED_TO]) return;
    fprintf(stderr, "x is %s and %s is %s: judged as %s", of_x->our_name, own[y - OWN].name,
            its->our_name, nl_dtype_name(its->dtype));
    if (its->bytes > of_x->bytes && its->dtype != of_x->dtype)
        fprintf(stderr, "; if it was rounded to %s before, give --rounded-to %s", of_x->our_name,
                of_x->our_name);
    fputc('\n', stderr);
}

static bool first_row(const arrays *a, size_t *first) {
    double row = 0;
    const bool ok = arrays_number(a, FIRST_ROW, 0, 1e15, true, &row);
    return *first = (size_t)row, ok;
}

static bool load_batch(arrays *a) {
    const char *path = a->value[BATCH], *name = own[theirs(a) - OWN].name;
    npy *part = &a->array[BATCH];
    char error[512];
    size_t first;
    if (!path) return true;
    if (!first_row(a, &first)) return false;
    if (!npy_read(path, part, error, sizeof error)) return options_fail("--batch %s", error);
    if (part->type != a->array[theirs(a)].type)
        return options_fail("--batch %s is %s, and %s is %s", path,
                            npy_type_of(part->type)->our_name, name,
                            npy_type_of(a->array[theirs(a)].type)->our_name);
    const npy *x = &a->array[IN_X];
    return batches_fit(x, x->rank - (size_t)a->axis, part, first, error, sizeof error) ||
           options_fail("--batch %s %s", path, error);
}

static bool load(arrays *a) {
    char shape[NPY_SHAPE_TEXT];
    const char *to = a->value[ROUNDED_TO];
    if (!arrays_load(a)) return false;
    note_types(a);
    npy_shape_text(&a->array[IN_X], shape);
    if (a->array[IN_X].count == 0)
        return options_fail("x of shape %s is empty: nothing to judge", shape);
    if (nl_layers[a->p.op].running && a->p.pass != NL_INFERENCE && nl_group_size(&a->p) == 1)
        return options_fail("x of shape %s has one value per channel: training needs two or more",
                            shape);
    if (!load_batch(a)) return false;
    arrays_flatten(a);
    const nl_dtype its = a->p.dtype = npy_type_of(a->array[theirs(a)].type)->dtype;
    if (!to) return true;
    for (nl_dtype t = 0; t < NL_DTYPES; t++) {
        if (strcmp(to, nl_dtype_name(t)) != 0) continue;
        if (its != NL_F32 && t != its)
            return options_fail("--rounded-to %s: %s is %s", to, a->value[theirs(a)],
                                nl_dtype_name(its));
        return a->p.dtype = t, true;
    }
    return options_fail("--rounded-to %s: %s", to, dtype_names());
}

/* Compares the rows of --batch with the output's: are the bits equal? */
static bool judge_batch(const arrays *a, const judgement *j) {
    size_t first;
    first_row(a, &first);
    const batches b = batches_compare(j, &a->array[BATCH], first);
    batches_print(j, &b, a->value[BATCH], stdout);
    return !b.numbers && !b.beyond;
}

/* False: out of memory, or the CSV cannot be written. */
static bool judge(const arrays *a, bool *right) {
    submission of = {.p = a->p};
    for (int i = 0; i < ARRAYS; i++) {
        const nl_arg arg = arrays_spec(a, i)->arg;
        if (!a->array[i].data) continue;
        if (nl_args[arg].extent == NL_TENSOR)
            of.array[arg] = &a->array[i];
        else
            of.vector[arg] = a->array[i].data, of.type[arg] = npy_type_of(a->saved[i])->dtype;
    }
    judgement *j = malloc(sizeof *j);
    mechanism_progress = progress;
    progress(0, 1, "computing the exact answer");
    bool ok = j && judgement_make(j, &of);
    progress(1, 1, "");
    if (!ok) return free(j), options_fail("out of memory for %zu elements", a->array[IN_X].count);
    judgement_print(j, a->value[theirs(a)], stdout);
    if (a->value[CSV]) {
        FILE *csv = fopen(a->value[CSV], "w");
        if (csv) judgement_csv(j, csv);
        bool lost = csv && ferror(csv);
        ok = (csv && fclose(csv) == 0 && !lost) ||
             options_fail("--csv %s: cannot write it", a->value[CSV]);
    }
    *right = j->right;
    if (ok && a->value[BATCH]) *right = judge_batch(a, j) && *right;
    judgement_free(j), free(j);
    return ok;
}

int cmd_judge(int argc, char **argv) {
    arrays a = {.own = own, .own_inputs = ARRAYS - OWN, .own_count = OPTIONS - OWN};
    bool right = false;
    int code = arrays_options(argc, argv, &a);
    if (code == OPTIONS_HELP) return printf("%s%s%s", purpose, arrays_usage, usage), NL_EXIT_OK;
    if (code != OPTIONS_DONE) return code;
    if (!check_options(&a)) return options_see_help();
    bool ok = load(&a) && judge(&a, &right);
    arrays_free(&a);
    return !ok ? NL_EXIT_USAGE : right ? NL_EXIT_OK : NL_EXIT_FAILED;
}
