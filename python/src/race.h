/* Times Python's callables as `normlab bench` times kernels. SPDX-License-Identifier: MIT */
#ifndef NL_PYTHON_RACE_H
#define NL_PYTHON_RACE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* (calls, seconds for each, precision) -> the fields of normlab.Race. Holds Python's lock. */
PyObject *race_calls(PyObject *self, PyObject *args);

/* ((case, implementation), (the other's), threads, seconds) -> who computed them, ns of each, the log
 * of the second's time over the first's, and the verdict. Both are verified before and afterwards. */
PyObject *race_cases(PyObject *self, PyObject *args);

/* (path of a results file) Writes the machine's facts beside it. */
PyObject *race_machine(PyObject *self, PyObject *args);

#endif
