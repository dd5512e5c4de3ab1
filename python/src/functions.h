/* The functions of normlab._core; _core.pyi has their arguments. NULL: raised.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "call.h"

#define FUNCTION(name) PyObject *name(PyObject *self, PyObject *args)
#define FAST_FUNCTION(name) \
    PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)

/* nl_forward(): y. nl_backward(): (dx, dgamma) or (dx, dgamma, dbeta). */
FAST_FUNCTION(layers_forward);
FAST_FUNCTION(layers_backward);

/* The first argument is the storage type of the result; those of call.h follow. Tensors are in C
 * order. Both return a dict: the reference, which takes float64, the right numbers (y, xhat, mean,
 * ... or dx, dgamma, dbeta); the judge, which takes any float type, the fields of
 * normlab.Judgement. */
FAST_FUNCTION(truth_reference);
FAST_FUNCTION(truth_judge);

/* Reads their arguments, and checks shapes and problem. False: raised. */
bool truth_read(PyObject *const *args, Py_ssize_t count, PyObject *names, call *k);

/* Fields of normlab.Case, bfloat16 as uint16; and of normlab.Exhibit. */
FUNCTION(data_case);
FUNCTION(data_museum);

/* Rows of the table, as tuples: all of them; the one that nl_best() takes for (op, pass, dtype, n,
 * c, s, threads). */
FUNCTION(table_implementations);
FUNCTION(table_best);

/* (calls, seconds for each, precision) -> the fields of normlab.Race. Holds Python's lock. */
FUNCTION(race_calls);

/* ((case, implementation), (the other's), threads, seconds) -> who computed them, ns of each, the
 * log of the second's time over the first's, and the verdict. Both implementations are verified
 * before and after the timing. */
FUNCTION(race_cases);

/* (path of a results file) Writes the machine's facts beside it. */
FUNCTION(race_machine);
