/* The table of implementations for Python. SPDX-License-Identifier: MIT */
#include "functions.h"
#include "cases/case.h"

/* The names of the set bits. */
static PyObject *names(unsigned bits, const char *(*name)(int)) {
    PyObject *list = PyList_New(0), *tuple = NULL;
    bool ok = list;
    for (int i = 0; ok && bits >> i; i++) {
        PyObject *text = bits >> i & 1 ? PyUnicode_FromString(name(i)) : NULL;
        if (bits >> i & 1) ok = text && PyList_Append(list, text) == 0;
        Py_XDECREF(text);
    }
    if (ok) tuple = PyList_AsTuple(list);
    Py_XDECREF(list);
    return tuple;
}

/* The fields of normlab.Implementation, in their order. */
static PyObject *row(const nl_impl *m) {
    return Py_BuildValue("sssNNNnsiNNNNNN", m->name, m->isa, m->about, names(m->ops, op_name),
                         names(m->passes, pass_name), names(m->dtypes, dtype_name),
                         (Py_ssize_t)m->c_max, method_name(m), m->lanes,
                         PyBool_FromLong(m->threaded), PyBool_FromLong(m->streams),
                         PyBool_FromLong(m->strided), PyBool_FromLong(m->range_safe),
                         PyBool_FromLong(m->demonstration), PyBool_FromLong(nl_isa_runs(m->isa)));
}

PyObject *table_implementations(PyObject *self, PyObject *none) {
    PyObject *list = PyList_New(0);
    bool ok = list;
    (void)self, (void)none;
    for (size_t i = 0; ok && i < nl_impl_count(); i++) {
        PyObject *one = row(nl_impl_at(i));
        ok = one && PyList_Append(list, one) == 0;
        Py_XDECREF(one);
    }
    if (!ok) Py_CLEAR(list);
    return list;
}

PyObject *table_best(PyObject *self, PyObject *args) {
    nl_problem p = {0};
    Py_ssize_t n, c, s;
    int op, pass, dtype, threads;
    (void)self;
    if (!PyArg_ParseTuple(args, "iiinnni", &op, &pass, &dtype, &n, &c, &s, &threads)) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_SetString(PyExc_ValueError, "n, c, s or threads is beyond an integer in C");
        return NULL;
    }
    if (n < 0 || c < 1 || s < 1 || threads < 1)
        return PyErr_Format(PyExc_ValueError, "n = %zd, c = %zd, s = %zd, threads = %d", n, c, s,
                            threads);
    p.op = (nl_op)op, p.pass = (nl_pass)pass, p.dtype = (nl_dtype)dtype;
    p.n = (size_t)n, p.c = (size_t)c, p.s = (size_t)s;
    const nl_impl *m = nl_best(&p, threads);
    if (m) return row(m);
    return PyErr_Format(PyExc_ValueError, "no implementation takes %s %s in %s", nl_op_name(p.op),
                        nl_pass_name(p.pass), nl_dtype_name(p.dtype));
}
