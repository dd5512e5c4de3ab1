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

/* Before call.h's arguments: the storage type of the result. Tensors are in C order. The reference
 * takes float64 and makes the right numbers, y, xhat, mean, ... or dx, dgamma and dbeta; the judge
 * takes any float type and makes the fields of normlab.Judgement; both are dicts. */
FAST_FUNCTION(truth_reference);
FAST_FUNCTION(truth_judge);

/* Reads their arguments, and checks shapes and problem. False: raised. */
bool truth_read(PyObject *const *args, Py_ssize_t count, PyObject *names, call *k);

/* Fields of normlab.Case, bfloat16 as uint16; and of normlab.Exhibit. */
FUNCTION(data_case);
FUNCTION(data_museum);

/* Rows are tuples: all; and that of nl_best() for (op, pass, dtype, n, c, s, threads). */
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
