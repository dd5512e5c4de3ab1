/* The table of implementations for Python: rows are tuples. SPDX-License-Identifier: MIT */
#ifndef NL_PYTHON_TABLE_H
#define NL_PYTHON_TABLE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* () -> all rows; (op, pass, dtype, n, c, s, threads) -> the row of nl_best(). */
PyObject *table_implementations(PyObject *self, PyObject *none);
PyObject *table_best(PyObject *self, PyObject *args);

#endif
