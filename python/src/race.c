/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "base/clock.h"
#include "machine/machine.h"
#include "timing/race.h"

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

/* ns, and ratios and savings relative to the first call. The last candidate repeats the first. */
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
    measure_candidate *candidates = calloc(count + 1, sizeof *candidates);
    if (!candidates) return PyErr_NoMemory();
    for (size_t i = 0; i <= count; i++)
        candidates[i] =
            (measure_candidate){.call = call_it,
                                .context = PyTuple_GetItem(calls, (Py_ssize_t)(i % count))};
    measure m = {.candidates = candidates, .count = count + 1, .seed = 1, .precision = precision};
    m.clock = clock_ns, m.interrupted = interrupted;
    m.seconds = seconds * (double)m.count;
    if (!measure_run(&m)) PyErr_NoMemory();
    if (!PyErr_Occurred()) all = fields(&m);
    measure_free(&m);
    return free(candidates), all;
}

/* Sets the candidate for a case: the named implementation or, for None, the choice of nl_best().
 * False: raised. */
static bool enter(fixtures *all, const char *text, PyObject *name, candidate *out) {
    char why[700];
    const nl_impl *impl;
    if (!call_impl(name, &impl)) return false;
    fixture *f = fixtures_get(all, text, why, sizeof why);
    if (!f) return PyErr_SetString(PyExc_ValueError, why), false;
    const nl_impl *m = impl ? impl : nl_best(&f->c.problem, out->threads);
    out->on[0] = f, out->impl[0] = m, out->unnamed = !impl;
    if (m && nl_accepts(m, &f->c.problem)) return true;
    return PyErr_Format(PyExc_ValueError, "no implementation %S accepts %s", name, text), false;
}

PyObject *race_cases(PyObject *self, PyObject *args) {
    const char *text[2];
    PyObject *name[2], *found = NULL;
    fixtures data[2] = {0};
    race by = {.seed = 1};
    candidate candidates[2] = {0};
    race_result r;
    (void)self;
    if (!PyArg_ParseTuple(args, "(sO)(sO)id", &text[0], &name[0], &text[1], &name[1],
                          &candidates[0].threads, &by.seconds))
        return NULL;
    candidates[1].threads = candidates[0].threads;
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) ok = enter(&data[i], text[i], name[i], &candidates[i]);
    if (ok && race_pair(&by, &candidates[0], &candidates[1], &r))
        found =
            Py_BuildValue("(ss)(ss)(dd)(ddd)s", candidates[0].impl[0]->name,
                          candidates[0].impl[0]->isa, candidates[1].impl[0]->name,
                          candidates[1].impl[0]->isa, r.ns[0], r.ns[1], r.ratio.median, r.ratio.low,
                          r.ratio.high, comparison_name(stats_verdict(r.ratio, r.band, 0.02)));
    else if (ok)
        PyErr_SetString(PyExc_ValueError, by.why);
    for (int i = 0; i < 2; i++) fixtures_free(&data[i]);
    return found;
}

PyObject *race_machine(PyObject *self, PyObject *args) {
    const char *text;
    int quick;
    (void)self;
    if (!PyArg_ParseTuple(args, "sp", &text, &quick)) return NULL;
    if (!machine_write_beside(text, quick, NULL)) return PyErr_SetFromErrno(PyExc_OSError);
    Py_RETURN_NONE;
}
