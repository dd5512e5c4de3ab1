/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "reference.h"

/* A call without rows computes nothing, but the library checks the problem and the arguments. */
static bool check_problem(const call *k) {
    nl_problem p = k->p;
    p.n = 0;
    const nl_forward_args f = call_forward_args(k);
    const nl_backward_args b = call_backward_args(k);
    const nl_status status = p.pass == NL_BACKWARD ? nl_backward(NULL, &p, &b, k->threads)
                                                   : nl_forward(NULL, &p, &f, k->threads);
    return status == NL_OK || call_raise(status);
}

/* Raises if an input is missing. The reference needs no statistics, and allocates the outputs. */
static bool check_missing(const call *k) {
    const nl_problem *p = &k->p;
    const struct nl_pass_row *pass = &nl_passes[p->pass];
    const unsigned running = NL_BIT(NL_RUNNING_MEAN) | NL_BIT(NL_RUNNING_VAR);
    unsigned needs = pass->needs & pass->reads & nl_takes(p->op, p->pass);
    needs &= ~(NL_BIT(NL_MEAN) | NL_BIT(NL_RSTD));
    if (k->array[NL_RUNNING_MEAN] || k->array[NL_RUNNING_VAR]) needs |= running;
    for (nl_arg a = 0; a < NL_ARGS; a++)
        if (needs & NL_BIT(a) && !k->array[a])
            return PyErr_Format(PyExc_ValueError, "%s %s: %s is None", nl_op_name(p->op),
                                nl_pass_name(p->pass), nl_arg_name(a, p->pass)),
                   false;
    const bool trains = nl_layers[p->op].running && p->pass != NL_INFERENCE;
    if (p->n && !(trains && nl_group_size(p) == 1)) return true;
    PyErr_Format(PyExc_ValueError, "x is too small: n = %zu, c = %zu, s = %zu", p->n, p->c, p->s);
    return false;
}

bool truth_read(PyObject *const *args, Py_ssize_t count, PyObject *names, call *k) {
    if (count < 1 || !call_read(args + 1, count - 1, names, k)) return false;
    k->p.dtype = (nl_dtype)PyLong_AsLong(args[0]);
    if (!k->given[NL_X]) return PyErr_Format(PyExc_TypeError, "x is None"), false;
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!k->given[a]) continue;
        const char *name = nl_arg_name(a, k->p.pass);
        k->array[a] = array_from(k->given[a], name);
        if (!k->array[a] || (a == NL_X && !array_problem(k->array[a], k->channels_last, &k->p)) ||
            !array_fits(k->array[a], name, a, &k->p, k->array[NL_X]))
            return false;
    }
    return check_problem(k) && check_missing(k);
}

/* A new array in the dict, with the argument's shape. NULL: an exception is set. */
static void *add(PyObject *all, const call *k, const char *name, nl_arg like, int type) {
    PyObject *array = NULL;
    if (!PyErr_Occurred()) array = (PyObject *)array_zeros(like, &k->p, k->array[NL_X], type);
    const bool ok = array && PyDict_SetItemString(all, name, array) == 0;
    Py_XDECREF(array); /* the dict keeps a reference */
    return ok ? PyArray_DATA((PyArrayObject *)array) : NULL;
}

static bool compute(const call *k, PyObject *all) {
    const nl_problem *p = &k->p;
    const bool backward = p->pass == NL_BACKWARD;
    const ref_inputs in = {.x = call_at(k, NL_X),
                           .residual = backward ? NULL : call_at(k, NL_RESIDUAL),
                           .gate = call_at(k, NL_GATE),
                           .dy = call_at(k, NL_DY),
                           .dresidual = backward ? call_at(k, NL_RESIDUAL) : NULL,
                           .gamma = call_at(k, NL_GAMMA),
                           .beta = call_at(k, NL_BETA),
                           .running_mean = call_at(k, NL_RUNNING_MEAN),
                           .running_var = call_at(k, NL_RUNNING_VAR)};
    ref_outputs out = {.xhat = add(all, k, "xhat", NL_X, NPY_DOUBLE),
                       .mean = add(all, k, "mean", NL_MEAN, NPY_LONGDOUBLE),
                       .var = add(all, k, "var", NL_MEAN, NPY_LONGDOUBLE),
                       .rstd = add(all, k, "rstd", NL_MEAN, NPY_LONGDOUBLE),
                       .magnitude = add(all, k, "magnitude", NL_MEAN, NPY_LONGDOUBLE)};
    long double *y = NULL;
    if (in.gate) {
        out.silu = add(all, k, "silu", NL_X, NPY_DOUBLE);
        if (backward) {
            out.slope_scale = add(all, k, "slope_scale", NL_X, NPY_DOUBLE);
            out.dgate = add(all, k, "dgate", NL_X, NPY_DOUBLE);
            out.dgate_scale = add(all, k, "dgate_scale", NL_X, NPY_DOUBLE);
        }
    }
    if (backward) {
        out.dx = add(all, k, "dx", NL_X, NPY_DOUBLE);
        out.dx_scale = add(all, k, "dx_scale", NL_X, NPY_DOUBLE);
        out.dgamma = add(all, k, "dgamma", NL_GAMMA, NPY_LONGDOUBLE);
        out.dgamma_scale = add(all, k, "dgamma_scale", NL_GAMMA, NPY_LONGDOUBLE);
        out.dbeta = add(all, k, "dbeta", NL_GAMMA, NPY_LONGDOUBLE);
        out.dbeta_scale = add(all, k, "dbeta_scale", NL_GAMMA, NPY_LONGDOUBLE);
    } else {
        y = add(all, k, "y", NL_X, NPY_LONGDOUBLE);
        if (in.running_mean && p->pass == NL_FORWARD) {
            out.running_mean = add(all, k, "running_mean", NL_GAMMA, NPY_LONGDOUBLE);
            out.running_var = add(all, k, "running_var", NL_GAMMA, NPY_LONGDOUBLE);
        }
    }
    if (PyErr_Occurred()) return false;
    bool ok;
    Py_BEGIN_ALLOW_THREADS;
    ok = ref_compute(p, &in, &out, nl_max_threads());
    for (size_t i = 0; ok && y && i < p->n * p->c * p->s; i++) {
        const size_t j = nl_feature_of(p, i);
        y[i] = ref_factor(p, in.gamma, &out, i) * out.xhat[i] + (in.beta ? in.beta[j] : 0);
    }
    Py_END_ALLOW_THREADS;
    return ok || (PyErr_NoMemory(), false);
}

PyObject *truth_reference(PyObject *self, PyObject *const *args, Py_ssize_t count,
                          PyObject *names) {
    call k = {0};
    PyObject *all = NULL;
    (void)self;
    if (truth_read(args, count, names, &k)) all = PyDict_New();
    if (all && !compute(&k, all)) Py_CLEAR(all);
    return call_release(&k), all;
}
