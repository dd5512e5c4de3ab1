/* The kinds of data: a name, and x as a function of the element alone.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The arguments of data_kind.value: element i of the array is element e of group g (of size m), and
 * belongs to feature j; `stream` is the array's random stream. */
typedef struct place {
    uint64_t stream;
    size_t i, g, e, m, j;
    bool centred; /* the layer subtracts the group's mean */
} place;

/* A kind, found by name; ":K" is a number:
 *   normal       N(0, 1)
 *   uniform      U(-1, 1)
 *   offset:K     K + N(0, 1): the mean is K sigma
 *   scale:K      K * N(0, 1)
 *   spike:K      N(0, 1), but element K of every group, or its last, is 1000
 *   constant     every group (row or channel) is one value
 *   outliers     N(0, 1) with a few channels 50 times larger, as in activations of language models
 *   sparse       N(0, 1), but a third of the values is 0 and a sixth -0
 *   exact        small integers: mean, variance and dbeta are exact in any order of summation;
 *                if eps is 0, dgamma too (LayerNorm and BatchNorm: only in groups of even size)
 *   zeros, nan, inf, huge, tiny      special values in some groups
 *   lognormal:K  exp(K * N(0, 1))
 *   cauchy       N(0, 1) / N(0, 1)
 *   decay:K      N(0, 1) * 2^(-e / K) for element e of its group
 *   head:K       N(0, 1), and K + N(0, 1) in the first 16 elements of a group
 *   first:K, middle:K, last:K        N(0, 1), and K in that element of a group
 *   alternating:K                    +K or -K, in turn, plus N(0, 1)
 *   ramp:K       from 0 to K, in equal steps
 *   museum:NAME  the data of a public bug report: museum.h
 *   npy:FILE     x from FILE; if it is NAME.x.npy, also NAME.gamma.npy and NAME.beta.npy
 */
typedef struct data_kind {
    double (*value)(place at, double k); /* NULL: x is in a file */
    double k;
    bool ties; /* gamma and beta put outputs halfway between two stored numbers */
    bool exact;
    bool random; /* independent values: rounding errors of their sums average out */
} data_kind;

/* False: no kind has that name. */
bool kind_find(const char *name, data_kind *out);

/* Returns the valid names, or the form of this name's number, for error messages. */
const char *kind_expected(const char *name);
