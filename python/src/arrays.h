/* NumPy arrays as the arguments of a call: dtype, shape and layout. The library checks the rest.
 * "Raised" means that a Python exception is set. SPDX-License-Identifier: MIT */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL normlab_numpy
#ifndef NORMLAB_IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "layer.h"

/* A new reference to an array. normlab._arrays converts other objects, without a copy. NULL:
 * raised. */
PyArrayObject *array_from(PyObject *given, const char *name);

/* A new reference to a result: a PyTorch tensor if x is a tensor, else the array. NULL:
 * raised. */
PyObject *array_like(PyArrayObject *made, PyObject *x);

/* The storage type of a tensor. False: the library has no such type; raised unless name is NULL. */
bool array_dtype(PyArrayObject *a, const char *name, nl_dtype *out);

/* Sets n, c and s by the shape of x. False: raised. */
bool array_problem(PyArrayObject *x, bool channels_last, nl_problem *p);

/* Sets the type of all parameters from parameter a: float32, or x's type. False: raised. */
bool array_parameters(PyArrayObject *a, const char *name, nl_problem *p, PyArrayObject *x);

/* Checks the argument's shape and C order. False: raised. */
bool array_fits(PyArrayObject *a, const char *name, nl_arg arg, const nl_problem *p,
                PyArrayObject *x);

/* Like array_fits(), but checks also the type, and that an output is writable. A tensor of a row
 * norm need not be in C order: its strides go into the problem. False: raised. */
bool array_suits(PyArrayObject *a, const char *name, nl_arg arg, nl_problem *p, PyArrayObject *x);

/* Merges the axes before the last, innermost first, if the step of an axis is the extent of the
 * next inner axis. `size` is an element's size in the units of `steps`. Returns the number of axes
 * left, and their lengths and steps, innermost first; 3: more than two, or an impossible step. */
int array_merge(int axes, const npy_intp *lengths, const npy_intp *steps, npy_intp size,
                npy_intp count[2], npy_intp step[2]);

/* A new array of this argument's type. Tensors are not initialized; other arrays are zeros. */
PyArrayObject *array_new(nl_arg arg, const nl_problem *p, PyArrayObject *x);

/* A new array of zeros for this argument; `type` is the number of its NumPy type. */
PyArrayObject *array_zeros(nl_arg arg, const nl_problem *p, PyArrayObject *x, int type);
