/* Data from .npy files. SPDX-License-Identifier: MIT */
#include "base/npy.h"
#include "cases/data.h"
#include "dtype.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NAME.x.npy to NAME.<part>.npy; false: another name, or no such file. */
static bool sibling(const char *path, const char *part, char *out, size_t out_size) {
    size_t length = strlen(path), end = strlen(".x.npy");
    if (length <= end || strcmp(path + length - end, ".x.npy") != 0) return false;
    int n = snprintf(out, out_size, "%.*s.%s.npy", (int)(length - end), path, part);
    if (n < 0 || (size_t)n >= out_size) return false;
    FILE *f = fopen(out, "rb");
    return f && fclose(f) == 0;
}

/* Reads a file of exactly `count` numbers and stores them as t. */
static bool load(const char *path, size_t count, nl_dtype t, void *out, char *error, size_t size) {
    npy a;
    if (!npy_read(path, &a, error, size)) return false;
    bool fits = a.count == count;
    for (size_t i = 0; fits && i < count; i++) nl_store(t, out, i, (float)npy_value(&a, i));
    if (!fits)
        snprintf(error, size, "%s holds %zu values; the case needs %zu", path, a.count, count);
    npy_free(&a);
    return fits;
}

bool data_load_files(const nl_case *c, nl_data *out, char *error, size_t error_size) {
    const nl_problem *p = &c->problem;
    const char *path = c->data + 4;
    char other[300];
    size_t count = p->n * p->c * p->s;
    if (!load(path, count, p->dtype, out->input[NL_X], error, error_size)) return false;
    for (nl_arg a = NL_GAMMA; a <= NL_BETA; a++)
        if (out->input[a] && sibling(path, nl_args[a].name, other, sizeof other) &&
            !load(other, p->c, NL_F32, out->input[a], error, error_size))
            return false;
    /* The captured models have LayerNorm. */
    bool theirs = p->op == NL_LAYERNORM && p->pass == NL_FORWARD && p->dtype == NL_F32 &&
                  !c->residual && !(c->absent & (NL_BIT(NL_GAMMA) | NL_BIT(NL_BETA))) &&
                  strstr(c->text + c->options, "eps=") && sibling(path, "y", other, sizeof other);
    if (!theirs) return true;
    out->model_y = malloc(count * sizeof(float));
    if (!out->model_y) return snprintf(error, error_size, "out of memory"), false;
    return load(other, count, NL_F32, out->model_y, error, error_size);
}
