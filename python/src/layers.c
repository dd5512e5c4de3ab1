/* SPDX-License-Identifier: MIT */
#include "functions.h"

#include <stdlib.h>

/* The name of an argument in the package, which calls y and dx "out". */
static const char *name_of(nl_arg a, nl_pass pass) {
    return a == NL_Y || a == NL_DX ? "out" : nl_arg_name(a, pass);
}

/* The first parameter that is given sets the type of all parameters. */
static bool get_parameters(call *k) {
    static const nl_arg parameters[] = {NL_GAMMA, NL_BETA, NL_DGAMMA, NL_DBETA};
    for (int i = 0; i < 4; i++) {
        const nl_arg a = parameters[i];
        if (k->array[a])
            return array_parameters(k->array[a], name_of(a, k->p.pass), &k->p, k->array[NL_X]);
    }
    return true;
}

/* Makes arrays of all given arguments, and new arrays for missing outputs in `always`. */
static bool get_arrays(unsigned always, call *k) {
    if (!k->given[NL_X]) return PyErr_Format(PyExc_TypeError, "x is None"), false;
    for (nl_arg a = 0; a < NL_ARGS; a++)
        if (k->given[a] && !(k->array[a] = array_from(k->given[a], name_of(a, k->p.pass))))
            return false;
    PyArrayObject *x = k->array[NL_X];
    if (!array_dtype(x, "x", &k->p.dtype) || !array_problem(x, k->channels_last, &k->p) ||
        !get_parameters(k))
        return false;
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (k->given[a]) {
            if (!array_suits(k->array[a], name_of(a, k->p.pass), a, &k->p, x)) return false;
        } else if (always & NL_BIT(a)) {
            if (!(k->array[a] = array_new(a, &k->p, x))) return false;
        }
    }
    return true;
}

static bool get(PyObject *const *args, Py_ssize_t count, PyObject *names, unsigned always,
                call *k) {
    return call_read(args, count, names, k) && get_arrays(always & nl_takes(k->p.op, k->p.pass), k);
}

/* The caller's array or, if none was given, the new array. NULL: raised. */
static PyObject *result(const call *k, nl_arg a) {
    return k->given[a] ? Py_NewRef(k->given[a]) : array_like(k->array[a], k->given[NL_X]);
}

static nl_status forward(const call *k) {
    const nl_forward_args a = call_forward_args(k);
    nl_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = nl_forward(k->impl, &k->p, &a, k->threads);
    Py_END_ALLOW_THREADS;
    return status;
}

PyObject *layers_forward(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    call k = {0};
    PyObject *y = NULL;
    (void)self;
    if (get(args, count, names, NL_BIT(NL_Y), &k)) {
        const nl_status status = forward(&k);
        y = status == NL_OK ? result(&k, NL_Y) : call_raise(status);
    }
    return call_release(&k), y;
}

/* Computes the statistics that forward would have saved. y gets its own memory, not that of dx,
 * because nl_backward() has not checked dx yet. */
static bool recompute(const call *k, float *mean, float *rstd) {
    nl_problem p = k->p;
    p.pass = NL_FORWARD, p.parameters = NL_F32, p.y_stride = (nl_stride){0};
    void *y = malloc(nl_bytes(&p, NL_TENSOR) + 1);
    const nl_forward_args a = {.x = call_at(k, NL_X),
                               .gate = call_at(k, NL_GATE),
                               .y = y,
                               .mean = mean,
                               .rstd = rstd};
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
        if (PyErr_Occurred() || !recompute(k, call_at(k, NL_MEAN), call_at(k, NL_RSTD)))
            return false;
    }
    const nl_backward_args a = call_backward_args(k);
    nl_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = nl_backward(k->impl, &k->p, &a, k->threads);
    Py_END_ALLOW_THREADS;
    return status == NL_OK || call_raise(status);
}

PyObject *layers_backward(PyObject *self, PyObject *const *args, Py_ssize_t count,
                          PyObject *names) {
    call k = {0};
    PyObject *all = NULL;
    (void)self;
    const unsigned gradients =
        NL_BIT(NL_DX) | NL_BIT(NL_DGATE) | NL_BIT(NL_DGAMMA) | NL_BIT(NL_DBETA);
    if (get(args, count, names, gradients, &k) && backward(&k)) {
        static const nl_arg order[] = {NL_DX, NL_DGATE, NL_DGAMMA, NL_DBETA};
        Py_ssize_t made = 0;
        for (int i = 0; i < 4; i++) made += k.array[order[i]] != NULL;
        all = PyTuple_New(made);
        for (Py_ssize_t i = 0, from = 0; all && i < made; i++, from++) {
            while (!k.array[order[from]]) from++;
            PyObject *one = result(&k, order[from]);
            if (one)
                PyTuple_SetItem(all, i, one);
            else
                Py_CLEAR(all);
        }
    }
    return call_release(&k), all;
}
