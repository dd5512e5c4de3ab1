/* The command line that `run` and `judge` share: a layer, its options, and the .npy arrays that go
 * into it. SPDX-License-Identifier: MIT */
#ifndef NL_ARRAYS_H
#define NL_ARRAYS_H

#include "base/npy.h"
#include "layer.h"

/* The options both have; a verb's own begin at OWN. The first six name an array. */
enum { IN_X, IN_RESIDUAL, IN_GAMMA, IN_BETA, IN_RUNNING_MEAN, IN_RUNNING_VAR, INPUTS };
enum { EPS = INPUTS, CASTING, INFERENCE, OWN, ARRAYS_MOST = 24 };

/* Layers that read this argument, or write it, take the option; and which other option it makes no
 * sense without (IN_X: none). */
typedef struct array_option {
    const char *name;
    nl_arg arg;
    bool written;
    int needs;
} array_option;

typedef struct arrays {
    const array_option *own; /* options OWN to OWN + own_count - 1, each with a value */
    int own_count;
    const char *layer, *value[ARRAYS_MOST];
    npy array[ARRAYS_MOST]; /* those that name one; arrays_load fills the inputs */
    nl_problem p;           /* without momentum */
} arrays;

/* As options_read. */
int arrays_options(int argc, char **argv, arrays *a);

/* Each of these says on stderr what is wrong, and returns false. */
bool arrays_layer(arrays *a); /* there is a layer, and --x */
bool arrays_check(arrays *a); /* the options suit the layer */
bool arrays_number(const arrays *a, int option, double low, double high, bool whole, double *out);
bool arrays_load(arrays *a); /* shapes fit; gamma, beta and running statistics become floats */

/* A value that float cannot hold is refused rather than made infinite. */
bool arrays_to_float(const char *path, npy *a);

void arrays_free(arrays *a);

#endif
