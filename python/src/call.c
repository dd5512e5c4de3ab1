/* SPDX-License-Identifier: MIT */
#include "call.h"

#include <limits.h>

static PyObject *arg_names[NL_PASSES][NL_ARGS];

bool call_begin(void) {
    for (int pass = 0; pass < NL_PASSES; pass++)
        for (nl_arg a = 0; a < NL_ARGS; a++) {
            arg_names[pass][a] = PyUnicode_InternFromString(nl_arg_name(a, (nl_pass)pass));
            if (!arg_names[pass][a]) return false;
        }
    return true;
}

/* Writes Python's None instead of NULL: both have four letters. */
void *call_raise(nl_status status) {
    char text[256];
    snprintf(text, sizeof text, "%s", nl_message());
    for (char *at = text; (at = strstr(at, "NULL"));) memcpy(at, "None", 4);
    PyErr_SetString(status == NL_OUT_OF_MEMORY ? PyExc_MemoryError : PyExc_ValueError, text);
    return NULL;
}

bool call_impl(PyObject *given, const nl_impl **out) {
    char text[256], *at;
    *out = NULL;
    if (given == Py_None) return true;
    PyObject *spelling = PyObject_Str(given);
    Py_ssize_t size;
    const char *name = spelling ? PyUnicode_AsUTF8AndSize(spelling, &size) : NULL;
    if (name && strlen(name) == (size_t)size) {
        snprintf(text, sizeof text, "%s", name);
        if ((at = strchr(text, '@'))) *at++ = '\0';
        *out = nl_find(text, at);
    }
    Py_XDECREF(spelling);
    if (!*out && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError,
                     "there is no implementation %R: normlab.implementations() lists all", given);
    return *out;
}

/* Replaces Python's message about a wrong number by one that names the setting. */
static bool wrong_setting(const char *name, PyObject *given, const char *expected) {
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s is %R; it must be a%s number", name, given, expected);
    else if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "%s is beyond a float", name);
    return false;
}

bool call_number(PyObject *given, const char *name, float *out) {
    const double v = PyFloat_AsDouble(given);
    if (v == -1 && PyErr_Occurred()) return wrong_setting(name, given, "");
    *out = (float)v;
    if (v == 0 || *out != 0) return true;
    PyErr_Format(PyExc_ValueError, "%s = %R is zero as a float", name, given);
    return false;
}

static bool get_settings(PyObject *const *args, call *k) {
    int overflow;
    k->p.op = (nl_op)PyLong_AsLong(args[OP]), k->p.pass = (nl_pass)PyLong_AsLong(args[PASS]);
    k->p.casting = PyObject_IsTrue(args[BEFORE_WEIGHT]) ? NL_CAST_BEFORE_WEIGHT : NL_CAST_LAST;
    k->p.sum = PyObject_IsTrue(args[ROUNDED_SUM]) ? NL_SUM_ROUNDED : NL_SUM_FLOAT;
    k->p.biased_running_var = PyObject_IsTrue(args[BIASED]);
    k->channels_last = PyObject_IsTrue(args[CHANNELS_LAST]);
    if (PyErr_Occurred()) return false;
    const long threads = PyLong_AsLongAndOverflow(args[THREADS], &overflow);
    if (PyErr_Occurred()) return wrong_setting("threads", args[THREADS], " whole");
    k->threads = overflow > 0 || threads > INT_MAX   ? INT_MAX
                 : overflow < 0 || threads < INT_MIN ? INT_MIN
                                                     : (int)threads;
    return call_number(args[EPS], "eps", &k->p.eps) &&
           call_number(args[MOMENTUM], "momentum", &k->p.momentum) &&
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

nl_forward_args call_forward_args(const call *k) {
    return (nl_forward_args){.x = call_at(k, NL_X),
                             .residual = call_at(k, NL_RESIDUAL),
                             .gate = call_at(k, NL_GATE),
                             .gamma = call_at(k, NL_GAMMA),
                             .beta = call_at(k, NL_BETA),
                             .y = call_at(k, NL_Y),
                             .residual_out = call_at(k, NL_RESIDUAL_OUT),
                             .mean = call_at(k, NL_MEAN),
                             .rstd = call_at(k, NL_RSTD),
                             .running_mean = call_at(k, NL_RUNNING_MEAN),
                             .running_var = call_at(k, NL_RUNNING_VAR)};
}

nl_backward_args call_backward_args(const call *k) {
    return (nl_backward_args){.x = call_at(k, NL_X),
                              .dy = call_at(k, NL_DY),
                              .dresidual = call_at(k, NL_RESIDUAL),
                              .gate = call_at(k, NL_GATE),
                              .gamma = call_at(k, NL_GAMMA),
                              .mean = call_at(k, NL_MEAN),
                              .rstd = call_at(k, NL_RSTD),
                              .dx = call_at(k, NL_DX),
                              .dgate = call_at(k, NL_DGATE),
                              .dgamma = call_at(k, NL_DGAMMA),
                              .dbeta = call_at(k, NL_DBETA)};
}

void call_release(call *k) {
    for (nl_arg a = 0; a < NL_ARGS; a++) Py_XDECREF(k->array[a]);
}

bool call_read(PyObject *const *args, Py_ssize_t count, PyObject *names, call *k) {
    if (count == SETTINGS) return get_settings(args, k) && get_names(args + SETTINGS, names, k);
    return PyErr_Format(PyExc_TypeError, "%d settings, not %zd", SETTINGS, count), false;
}
