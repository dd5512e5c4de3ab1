/* A call of the library with Python's arguments. SPDX-License-Identifier: MIT */
#pragma once

#include "arrays.h"

typedef struct call {
    nl_problem p;
    const nl_impl *impl; /* NULL: nl_best() */
    int threads;
    bool channels_last;
    PyObject *given[NL_ARGS];      /* borrowed; NULL: not given */
    PyArrayObject *array[NL_ARGS]; /* owned */
} call;

/* The arguments of every function: the settings by position, and arrays by the library's names.
 *     op, pass, channels_last, before_weight, rounded_sum, eps, momentum, biased_running_var, impl,
 *     threads */
enum { OP, PASS, CHANNELS_LAST, BEFORE_WEIGHT, ROUNDED_SUM };
enum { EPS = ROUNDED_SUM + 1, MOMENTUM, BIASED, IMPL, THREADS, SETTINGS };

/* Reads the settings, and sorts the arrays into k->given. False: raised. */
bool call_read(PyObject *const *args, Py_ssize_t count, PyObject *names, call *k);

/* Interns the names of arguments, once. False: raised. */
bool call_begin(void);

/* Raises an exception with nl_message(). */
void *call_raise(nl_status status);

/* Finds an implementation: None, or an object that str() turns into "NAME" or "NAME@ISA". False:
 * raised. */
bool call_impl(PyObject *given, const nl_impl **out);

/* A finite setting as a float. False: raised. */
bool call_number(PyObject *given, const char *name, float *out);

void call_release(call *k);

/* The data of an array; NULL: no such array. */
static inline void *call_at(const call *k, nl_arg a) {
    return k->array[a] ? PyArray_DATA(k->array[a]) : NULL;
}

/* The arrays as the library's arguments. */
nl_forward_args call_forward_args(const call *k);
nl_backward_args call_backward_args(const call *k);
