/* SPDX-License-Identifier: MIT */
#include "call.h"

#include <limits.h>
#include <stdlib.h>

static PyObject *arg_names[NL_PASSES][NL_ARGS];

bool call_begin(void) {
    for (int pass = 0; pass < NL_PASSES; pass++)
        for (nl_arg a = 0; a < NL_ARGS; a++) {
            arg_names[pass][a] = PyUnicode_InternFromString(nl_arg_name(a, (nl_pass)pass));
            if (!arg_names[pass][a]) return false;
        }
    return true;
}

void *call_raise(nl_status status) {
    PyErr_SetString(status == NL_OUT_OF_MEMORY ? PyExc_MemoryError : PyExc_ValueError,
                    nl_message());
    return NULL;
}

bool call_impl(PyObject *given, const nl_impl **out) {
    char text[256], *at;
    *out = NULL;
    if (given == Py_None) return true;
    PyObject *spelling = PyObject_Str(given);
    const char *name = spelling ? PyUnicode_AsUTF8AndSize(spelling, NULL) : NULL;
    if (name) {
        snprintf(text, sizeof text, "%s", name);
        if ((at = strchr(text, '@'))) *at++ = '\0';
        *out = nl_find(text, at);
    }
    Py_XDECREF(spelling);
    if (!*out && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError,
                     "there is no implementation %R: normlab.implementations() has all", given);
    return *out;
}

static bool get_number(PyObject *given, const char *name, float *out) {
    const double v = PyFloat_AsDouble(given);
    if (v == -1 && PyErr_Occurred()) return false;
    *out = (float)v;
    if (v == 0 || *out != 0) return true;
    PyErr_Format(PyExc_ValueError, "%s = %R is zero as a float", name, given);
    return false;
}

static bool get_settings(PyObject *const *args, call *k) {
    int overflow;
    k->p.op = (nl_op)PyLong_AsLong(args[OP]), k->p.pass = (nl_pass)PyLong_AsLong(args[PASS]);
    k->p.casting = PyObject_IsTrue(args[BEFORE_WEIGHT]) ? NL_CAST_BEFORE_WEIGHT : NL_CAST_LAST;
    k->p.biased_running_var = PyObject_IsTrue(args[BIASED]);
    const long threads = PyLong_AsLongAndOverflow(args[THREADS], &overflow);
    if (PyErr_Occurred()) return false;
    k->threads = overflow > 0 || threads > INT_MAX   ? INT_MAX
                 : overflow < 0 || threads < INT_MIN ? INT_MIN
                                                     : (int)threads;
    return get_number(args[EPS], "eps", &k->p.eps) &&
           get_number(args[MOMENTUM], "momentum", &k->p.momentum) &&
           call_impl(args[IMPL], &k->impl);
}

/* Sorts the keyword arguments by nl_arg. */
static bool get_names(PyObject *const *values, PyObject *names, call *k) {
    const Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GetItem(names, i), *const *known = arg_names[k->p.pass];
        nl_arg a = 0;
        while (a < NL_ARGS && known[a] != name) a++;
        if (a == NL_ARGS)
            return PyErr_Format(PyExc_TypeError, "no array is called %R", name), false;
        if (values[i] != Py_None) k->given[a] = values[i];
    }
    return true;
}

void call_release(call *k) {
    for (nl_arg a = 0; a < NL_ARGS; a++) Py_XDECREF(k->array[a]);
}

/* Arrays for all that is given, and new ones for the outputs `always`. */
static bool get_arrays(bool channels_last, unsigned always, call *k) {
    const char *const x_name = nl_arg_name(NL_X, k->p.pass);
    if (!k->given[NL_X]) return PyErr_Format(PyExc_TypeError, "x is None"), false;
    PyArrayObject *x = k->array[NL_X] = array_from(k->given[NL_X], x_name);
    if (!x || !array_dtype(x, x_name, &k->p.dtype) || !array_problem(x, channels_last, &k->p))
        return false;
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!k->given[a]) {
            if (!(always & NL_BIT(a))) continue;
            if (!(k->array[a] = array_new(a, &k->p, x))) return false;
            continue;
        }
        if (a != NL_X) k->array[a] = array_from(k->given[a], nl_arg_name(a, k->p.pass));
        if (!k->array[a] || !array_suits(k->array[a], a, &k->p, x)) return false;
    }
    return true;
}

bool call_read(PyObject *const *args, Py_ssize_t count, PyObject *names, call *k) {
    if (count == SETTINGS) return get_settings(args, k) && get_names(args + SETTINGS, names, k);
    return PyErr_Format(PyExc_TypeError, "%d settings, not %zd", SETTINGS, count), false;
}

static bool get(PyObject *const *args, Py_ssize_t count, PyObject *names, unsigned always,
                call *k) {
    return call_read(args, count, names, k) && get_arrays(PyObject_IsTrue(args[CHANNELS_LAST]),
                                                          always & nl_takes(k->p.op, k->p.pass), k);
}

static void *at(const call *k, nl_arg a) {
    return k->array[a] ? PyArray_DATA(k->array[a]) : NULL;
}

/* What the caller gave, or the array made for it. */
static PyObject *result(const call *k, nl_arg a) {
    return Py_NewRef(k->given[a] ? k->given[a] : (PyObject *)k->array[a]);
}

static nl_status forward(const call *k) {
    const nl_forward_args a = {.x = at(k, NL_X),
                               .residual = at(k, NL_RESIDUAL),
                               .gamma = at(k, NL_GAMMA),
                               .beta = at(k, NL_BETA),
                               .y = at(k, NL_Y),
                               .residual_out = at(k, NL_RESIDUAL_OUT),
                               .mean = at(k, NL_MEAN),
                               .rstd = at(k, NL_RSTD),
                               .running_mean = at(k, NL_RUNNING_MEAN),
                               .running_var = at(k, NL_RUNNING_VAR)};
    nl_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = nl_forward(k->impl, &k->p, &a, k->threads);
    Py_END_ALLOW_THREADS;
    return status;
}

PyObject *call_forward(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    call k = {0};
    PyObject *y = NULL;
    (void)self;
    if (get(args, count, names, NL_BIT(NL_Y), &k)) {
        const nl_status status = forward(&k);
        y = status == NL_OK ? result(&k, NL_Y) : call_raise(status);
    }
    return call_release(&k), y;
}

/* The statistics that forward would have saved. Its y needs memory of its own: the library has not
 * checked dx yet. */
static bool recompute(const call *k, float *mean, float *rstd) {
    nl_problem p = k->p;
    p.pass = NL_FORWARD;
    void *y = malloc(nl_bytes(&p, NL_TENSOR) + 1);
    const nl_forward_args a = {.x = at(k, NL_X), .y = y, .mean = mean, .rstd = rstd};
    if (!y) return PyErr_NoMemory(), false;
    nl_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = nl_forward(NULL, &p, &a, k->threads);
    Py_END_ALLOW_THREADS;
    free(y);
    return status == NL_OK || call_raise(status);
}

static bool backward(call *k) {
    if (!k->array[NL_MEAN] && !k->array[NL_RSTD]) {
        PyArrayObject *x = k->array[NL_X];
        k->array[NL_RSTD] = array_new(NL_RSTD, &k->p, x);
        if (nl_layers[k->p.op].centred) k->array[NL_MEAN] = array_new(NL_MEAN, &k->p, x);
        if (PyErr_Occurred() || !recompute(k, at(k, NL_MEAN), at(k, NL_RSTD))) return false;
    }
    const nl_backward_args a = {.x = at(k, NL_X),
                                .dy = at(k, NL_DY),
                                .dresidual = at(k, NL_RESIDUAL),
                                .gamma = at(k, NL_GAMMA),
                                .mean = at(k, NL_MEAN),
                                .rstd = at(k, NL_RSTD),
                                .dx = at(k, NL_DX),
                                .dgamma = at(k, NL_DGAMMA),
                                .dbeta = at(k, NL_DBETA)};
    nl_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = nl_backward(k->impl, &k->p, &a, k->threads);
    Py_END_ALLOW_THREADS;
    return status == NL_OK || call_raise(status);
}

PyObject *call_backward(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    call k = {0};
    PyObject *all = NULL;
    (void)self;
    if (get(args, count, names, NL_BIT(NL_DX) | NL_BIT(NL_DGAMMA) | NL_BIT(NL_DBETA), &k) &&
        backward(&k)) {
        const bool beta = k.array[NL_DBETA];
        all = PyTuple_New(2 + beta);
        if (all) {
            PyTuple_SetItem(all, 0, result(&k, NL_DX));
            PyTuple_SetItem(all, 1, result(&k, NL_DGAMMA));
            if (beta) PyTuple_SetItem(all, 2, result(&k, NL_DBETA));
        }
    }
    return call_release(&k), all;
}
