/* SPDX-License-Identifier: MIT */
#include "base/npy.h"
#include "dtype.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are not byte-swapped");

static const npy_type types[] = {{'e', "f2", "f16", 2, NL_F16},
                                 {'f', "f4", "f32", 4, NL_F32},
                                 {'d', "f8", "f64", 8, NL_F32},
                                 {'E', "V2", "bf16", 2, NL_BF16}};
enum { TYPES = sizeof types / sizeof *types };

const npy_type *npy_type_of(char letter) {
    for (int i = 0; i < TYPES; i++)
        if (types[i].letter == letter) return &types[i];
    return NULL;
}

const npy_type *npy_type_named(const char *name) {
    for (int i = 0; i < TYPES; i++)
        if (strcmp(types[i].name, name) == 0) return &types[i];
    return NULL;
}

double npy_value(const npy *a, size_t i) {
    if (a->type == 'd') return ((const double *)a->data)[i];
    return nl_load(npy_type_of(a->type)->dtype, a->data, i);
}

/* The check counts axes of length 0 as 1, as NumPy does, so that the product of any axes fits. */
bool npy_count(npy *a, size_t bytes_each) {
    size_t product = 1, most = PTRDIFF_MAX / bytes_each;
    bool empty = false;
    for (size_t i = 0; i < a->rank; i++) {
        empty |= a->shape[i] == 0;
        if (a->shape[i] > most / product) return false;
        if (a->shape[i]) product *= a->shape[i];
    }
    a->count = empty ? 0 : product;
    return true;
}

void npy_shape_text(const npy *a, char text[NPY_SHAPE_TEXT]) {
    size_t n = 0;
    text[n++] = '(';
    for (size_t i = 0; i < a->rank; i++)
        n += (size_t)sprintf(text + n, "%s%zu", i ? ", " : "", a->shape[i]);
    strcpy(text + n, a->rank == 1 ? ",)" : ")");
}

void npy_free(npy *a) {
    free(a->data);
    *a = (npy){0};
}

bool npy_wrong(const npy_errors *to, const char *format, ...) {
    va_list rest;
    int n = snprintf(to->text, to->size, "%.200s", to->path);
    va_start(rest, format);
    if (n >= 0 && (size_t)n < to->size) vsnprintf(to->text + n, to->size - (size_t)n, format, rest);
    va_end(rest);
    return false;
}
