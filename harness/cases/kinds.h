/* The kinds of data: a name, and x as a function of the element alone.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXACT_MAX = 1 << 22 };

/* The arguments of data_kind.value: element i of the array is element e of group g (of size m), and
 * belongs to feature j; `stream` is the array's random stream. */
typedef struct place {
    uint64_t stream;
    size_t i, g, e, m, j;
    bool centred; /* the layer subtracts the group's mean */
} place;

/* A kind; docs/results.md lists all kinds. */
typedef struct data_kind {
    double (*value)(const place *at, double k); /* NULL: x is in a file */
    double k;
    bool ties;   /* gamma and beta put outputs halfway between two stored numbers */
    bool exact;  /* sums of up to EXACT_MAX elements are exact in float */
    bool random; /* independent values: rounding errors of their sums average out */
} data_kind;

/* False: no kind has that name. */
bool kind_find(const char *name, data_kind *out);

/* Returns the valid names, or the form of this name's number, for error messages. */
const char *kind_expected(const char *name);
