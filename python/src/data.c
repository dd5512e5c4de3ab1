/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "cases/case.h"
#include "cases/data.h"
#include "cases/museum.h"

/* A copy without the gaps between rows. Shape: (n, c), (n, c, s), (n,) or (c,). */
static PyObject *array_of(const nl_problem *p, nl_arg a, const void *from) {
    static const int types[NL_DTYPES] =
        {[NL_F32] = NPY_FLOAT, [NL_F16] = NPY_HALF, [NL_BF16] = NPY_UINT16};
    const nl_extent extent = nl_args[a].extent;
    npy_intp shape[3] = {(npy_intp)p->n, (npy_intp)p->c, (npy_intp)p->s};
    int axes = p->s == 1 ? 2 : 3;
    if (extent != NL_TENSOR) {
        shape[0] = (npy_intp)(extent == NL_GROUPS ? nl_group_count(p) : p->c);
        axes = 1;
    }
    const nl_dtype dtype = data_type(p, a);
    PyObject *array = PyArray_SimpleNew(axes, shape, types[dtype]);
    if (!array) return NULL;
    char *to = PyArray_DATA((PyArrayObject *)array);
    const size_t size = nl_dtype_size(dtype);
    if (extent != NL_TENSOR || nl_is_packed(p))
        memcpy(to, from, nl_arg_bytes(p, a));
    else
        for (size_t r = 0; r < p->n; r++)
            memcpy(to + r * p->c * size,
                   (const char *)from + nl_place(nl_places_of(p, a), r * p->c) * size, p->c * size);
    return array;
}

static PyObject *arrays_of(const nl_case *c, const nl_data *data) {
    PyObject *all = PyDict_New();
    bool ok = all;
    for (nl_arg a = 0; ok && a < NL_ARGS; a++) {
        if (!data->input[a] || a == NL_MEAN || a == NL_RSTD) continue; /* not filled */
        PyObject *array = array_of(&c->problem, a, data->input[a]);
        ok = array && PyDict_SetItemString(all, nl_arg_name(a, c->problem.pass), array) == 0;
        Py_XDECREF(array);
    }
    if (!ok) Py_CLEAR(all);
    return all;
}

PyObject *data_case(PyObject *self, PyObject *spelling) {
    Py_ssize_t size;
    const char *text = PyUnicode_AsUTF8AndSize(spelling, &size);
    char error[700];
    nl_case c;
    nl_data data;
    (void)self;
    if (!text) return NULL;
    if (strlen(text) != (size_t)size)
        return PyErr_SetString(PyExc_ValueError, "a case must not contain the character NUL"), NULL;
    bool ok = case_parse(text, &c, error, sizeof error);
    if (ok) {
        Py_BEGIN_ALLOW_THREADS;
        ok = data_make(&c, &data, error, sizeof error);
        Py_END_ALLOW_THREADS;
    }
    if (!ok) return PyErr_SetString(PyExc_ValueError, error), NULL;
    const nl_problem *p = &c.problem;
    PyObject *fields =
        Py_BuildValue("ssssnnndNNN", c.text, nl_op_name(p->op), nl_pass_name(p->pass),
                      nl_dtype_name(p->dtype), (Py_ssize_t)p->n, (Py_ssize_t)p->c, (Py_ssize_t)p->s,
                      (double)p->eps, PyBool_FromLong(p->casting == NL_CAST_BEFORE_WEIGHT),
                      PyBool_FromLong(p->sum == NL_SUM_ROUNDED), arrays_of(&c, &data));
    return data_free(&data), fields;
}

/* The cases of an exhibit, without braces. */
static PyObject *cases_of(const exhibit *e) {
    case_list list = {0};
    char spelling[CASE_TEXT], error[700];
    bool ok = true;
    for (size_t i = 0; ok && museum_spelling(e, i, spelling, sizeof spelling); i++)
        ok = cases_add(&list, spelling, error, sizeof error);
    if (!ok) PyErr_SetString(PyExc_RuntimeError, error);
    PyObject *tuple = ok ? PyTuple_New((Py_ssize_t)list.count) : NULL;
    for (size_t i = 0; tuple && i < list.count; i++) {
        PyObject *text = PyUnicode_FromString(list.items[i].text);
        if (!text || PyTuple_SetItem(tuple, (Py_ssize_t)i, text) < 0) Py_CLEAR(tuple);
    }
    return cases_free(&list), tuple;
}

PyObject *data_museum(PyObject *self, PyObject *none) {
    PyObject *list = PyList_New(0);
    bool ok = list;
    (void)self, (void)none;
    for (size_t i = 0; ok && i < museum_count(); i++) {
        const exhibit *e = museum_at(i);
        PyObject *one = Py_BuildValue("szssN", e->name, e->report, e->data, e->wrong, cases_of(e));
        ok = one && PyList_Append(list, one) == 0;
        Py_XDECREF(one);
    }
    if (!ok) Py_CLEAR(list);
    return list;
}
