/* The reference and the judge for Python. Their first argument is the storage type of the result;
 * the others are those of call.h. Tensors are in C order already. SPDX-License-Identifier: MIT */
#ifndef NL_PYTHON_TRUTH_H
#define NL_PYTHON_TRUTH_H

#include "call.h"

/* Reads the arguments: arrays of any type, their shapes and the problem checked. False: raised. */
bool truth_read(PyObject *const *args, Py_ssize_t count, PyObject *names, call *k);

/* Tensors of float64. The right numbers as a dict: y, xhat, mean, ... or dx, dgamma and dbeta. */
PyObject *truth_reference(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

/* Tensors of float16, float32 or float64. The fields of normlab.Judgement as a dict. */
PyObject *truth_judge(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

#endif
