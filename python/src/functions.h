/* The functions of normlab._core; _core.pyi has their arguments. NULL: a Python exception is set.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "call.h"

#define FUNCTION(name) PyObject *name(PyObject *self, PyObject *args)
#define FAST_FUNCTION(name) \
    PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)

/* Call nl_forward() for y, and nl_backward() for a tuple: dx, dgate, dgamma and dbeta, without
 * those that the layer lacks. */
FAST_FUNCTION(layers_forward);
FAST_FUNCTION(layers_backward);

/* Calls nl_forward() of a row norm with tensors of PyTorch, whose types, devices and shapes the
 * caller has checked; y and total are in C order. Returns False, with nothing written, if the
 * strides of rows or parameters require a copy, or if there are no features. */
PyObject *tensors_forward(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* Arguments: the storage type of the result, then as in call.h; the judge gets two more (judge.c)
 * before these. Tensors are in C order. Both return a dict. The reference takes float64 and returns
 * the results (y, xhat, mean, ... or dx, dgamma, dbeta). The judge takes any float type and returns
 * the fields of normlab.Judgement. */
FAST_FUNCTION(truth_reference);
FAST_FUNCTION(truth_judge);

/* Reads the arguments of both functions; checks shapes and problem. False: raised. */
bool truth_read(PyObject *const *args, Py_ssize_t count, PyObject *names, call *k);

/* Return the fields of a normlab.Case (bfloat16 as uint16); the fields of each normlab.Exhibit. */
FUNCTION(data_case);
FUNCTION(data_museum);

/* Return rows of the table as tuples: all rows, or the choice of nl_best() for (op, pass, dtype, n,
 * c, s, threads). */
FUNCTION(table_implementations);
FUNCTION(table_best);

/* (calls, seconds for each, precision) -> the fields of normlab.Race. Holds Python's lock. */
FUNCTION(race_calls);

/* ((case, implementation), (case, implementation), threads, seconds) -> both implementations, ns of
 * each, the log of the second's time over the first's, and the verdict. Both implementations are
 * verified before and after the timing. */
FUNCTION(race_cases);

/* (path of a results file, quick) Writes the machine's facts beside the file. */
FUNCTION(race_machine);
