/* SPDX-License-Identifier: MIT */
#include "race.h"
#include "base/clock.h"
#include "machine/machine.h"
#include "timing/figure.h"
#include "timing/measure.h"

#include <stdlib.h>

/* After an exception the remaining calls do nothing, and interrupted() ends the rounds. */
static void call_it(void *callable, size_t turn) {
    (void)turn;
    if (PyErr_Occurred()) return;
    Py_XDECREF(PyObject_CallNoArgs(callable));
}

static bool interrupted(void) {
    return PyErr_Occurred() || PyErr_CheckSignals() < 0;
}

static PyObject *triple(estimate e) {
    return Py_BuildValue("(ddd)", e.median, e.low, e.high);
}

/* ns, ratios and savings of the calls against the first; the last arm is the first again. */
static PyObject *fields(const measure *m) {
    const size_t calls = m->count - 1;
    const double band = stats_band(measure_ratio(m, calls, 0));
    PyObject *ns = PyList_New(0), *ratios = PyList_New(0), *savings = PyList_New(0);
    bool ok = ns && ratios && savings;
    for (size_t i = 0; ok && i < calls; i++) {
        const estimate ratio = measure_ratio(m, i, 0);
        PyObject *one[] = {triple(measure_time(m, i)), triple(ratio),
                           triple(figure_saving(1, ratio, band).wide)};
        PyObject *to[] = {ns, ratios, savings};
        for (int k = 0; k < 3; k++) {
            ok = ok && one[k] && PyList_Append(to[k], one[k]) == 0;
            Py_XDECREF(one[k]);
        }
    }
    PyObject *all =
        ok ? Py_BuildValue("(OOOdn)", ns, ratios, savings, band, (Py_ssize_t)m->rounds) : NULL;
    Py_XDECREF(ns), Py_XDECREF(ratios), Py_XDECREF(savings);
    return all;
}

PyObject *race_calls(PyObject *self, PyObject *args) {
    PyObject *calls, *all = NULL;
    double seconds, precision;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!dd", &PyTuple_Type, &calls, &seconds, &precision)) return NULL;
    const size_t count = (size_t)PyTuple_Size(calls);
    measure_arm *arms = calloc(count + 1, sizeof *arms);
    if (!arms) return PyErr_NoMemory();
    for (size_t i = 0; i <= count; i++)
        arms[i] = (measure_arm){.call = call_it,
                                .context = PyTuple_GetItem(calls, (Py_ssize_t)(i % count))};
    measure m = {.arms = arms, .count = count + 1, .seed = 1, .precision = precision};
    m.clock = clock_ns, m.interrupted = interrupted;
    m.seconds = seconds * (double)m.count;
    if (!measure_run(&m)) PyErr_NoMemory();
    if (!PyErr_Occurred()) all = fields(&m);
    measure_free(&m);
    return free(arms), all;
}

PyObject *race_machine(PyObject *self, PyObject *args) {
    const char *text;
    int quick;
    (void)self;
    if (!PyArg_ParseTuple(args, "sp", &text, &quick)) return NULL;
    if (!machine_write_beside(text, quick)) return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}
