/* The command line that `run` and `judge` share: a layer, its options, and its .npy arrays.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "base/npy.h"
#include "layer.h"

/* The shared options that name an array. A command's own options begin at OWN; arrays.c appends the
 * other shared options. */
enum { IN_X, IN_RESIDUAL, IN_GATE, IN_GAMMA, IN_BETA, IN_RUNNING_MEAN, IN_RUNNING_VAR, INPUTS };
enum { OWN = INPUTS, ARRAYS_MAX = 32 };

/* An option of this name is an OPTION_LOAD, which leaves its `value` NULL. */
#define ARRAYS_LOAD "load"

/* Help text for LAYER and the shared options. */
extern const char arrays_usage[];

/* A layer accepts the option if it reads (with `written`: writes) the argument. needs: another
 * option that this option requires (IN_X: none). */
typedef struct array_option {
    const char *name;
    nl_arg arg;
    bool written;
    int needs;
} array_option;

typedef struct arrays {
    const array_option *own;   /* the command's options, from OWN on; each takes a value */
    int own_inputs, own_count; /* the first own_inputs options name inputs */
    const char *layer, *value[ARRAYS_MAX];
    npy array[ARRAYS_MAX];  /* arrays of the options; arrays_load fills the inputs */
    char saved[ARRAYS_MAX]; /* NumPy's type letters of the arrays in the files */
    bool backward;          /* set before arrays_check */
    const char *axes;       /* value of --axes; NULL: the layer's default */
    int axis;               /* the first normalized axis, or the channels' axis */
    nl_problem p;           /* without momentum */
} arrays;

/* Reads the command line; returns what options_read() returns. */
int arrays_options(int argc, char **argv, arrays *a);

/* These functions print a message and return false on an error. */
bool arrays_layer(arrays *a); /* is there a layer, and --x? */
bool arrays_check(arrays *a); /* do the options suit the layer? */
bool arrays_number(const arrays *a, int option, double low, double high, bool whole, double *out);
/* Reads all inputs and checks shapes; converts all inputs except tensors to float. */
bool arrays_load(arrays *a);
/* Does the tensor of this option have x's type? */
bool arrays_same_type(const arrays *a, int option);
/* For code that does not support --axes: merges the normalized axes of all tensors into one last
 * axis or, if the layer has channels, gives the tensors the shape (n, c, s). */
void arrays_flatten(arrays *a);
const array_option *arrays_spec(const arrays *a, int option);
/* Sets rank and shape for an argument of the problem. */
void arrays_shape(const arrays *a, nl_arg arg, npy *out);

/* Converts to float; rejects a value that float cannot hold instead of making it infinite. */
bool arrays_to_float(const char *path, npy *a);

void arrays_free(arrays *a);
