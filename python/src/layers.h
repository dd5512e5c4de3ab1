/* The layers for Python; the arguments are those of call.h. SPDX-License-Identifier: MIT */
#ifndef NL_PYTHON_LAYERS_H
#define NL_PYTHON_LAYERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* nl_forward(): y. nl_backward(): (dx, dgamma) or (dx, dgamma, dbeta). */
PyObject *layers_forward(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *layers_backward(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

#endif
