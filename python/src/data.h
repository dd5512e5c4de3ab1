/* The data of cases, and the museum, for Python. SPDX-License-Identifier: MIT */
#ifndef NL_PYTHON_DATA_H
#define NL_PYTHON_DATA_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The fields of normlab.Case, without their types' names: bfloat16 comes as uint16. */
PyObject *data_case(PyObject *self, PyObject *spelling);

/* The fields of normlab.Exhibit. */
PyObject *data_museum(PyObject *self, PyObject *none);

#endif
