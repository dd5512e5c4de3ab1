/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "judge/judge.h"

#include <stdlib.h>

/* The mistakes that were tried, as the fields of normlab.Mistake. */
static PyObject *mistakes(const judgement *j) {
    PyObject *list = PyList_New(0);
    bool ok = list;
    for (size_t i = 0; ok && i < j->formulas.count; i++) {
        const hypothesis *h = &j->formulas.found[i];
        PyObject *one = Py_BuildValue("ssdddN", h->name, h->text, h->removes, h->left.rms,
                                      h->left.largest, PyBool_FromLong(i < j->formulas.likely));
        ok = one && PyList_Append(list, one) == 0;
        Py_XDECREF(one);
    }
    if (!ok) Py_CLEAR(list);
    return list;
}

/* The fields of normlab.OtherBatch, which are also printed to `out`. None: no other batch. */
static PyObject *compared(const judgement *j, const npy *part, size_t first, FILE *out) {
    if (!part) Py_RETURN_NONE;
    const batches b = batches_compare(j, part, first);
    batches_print(j, &b, "batch", out);
    return Py_BuildValue("nnndnn", (Py_ssize_t)b.rows, (Py_ssize_t)b.others, (Py_ssize_t)b.numbers,
                         b.ulps, (Py_ssize_t)b.worst, (Py_ssize_t)b.beyond);
}

static PyObject *fields(const judgement *j, const npy *part, size_t first) {
    const score *c = &j->score;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return PyErr_NoMemory();
    judgement_print(j, nl_args[subject_tensor(&j->s)].name, out);
    PyObject *batch = compared(j, part, first, out);
    PyObject *all = NULL;
    if (fclose(out) == 0)
        all = Py_BuildValue("{s:s,s:d,s:d,s:d,s:d,s:n,s:n,s:n,s:n,s:s,s:n,s:s,s:N,s:N,s:s}",
                            "verdict", judgement_verdict(j), "largest", c->largest, "bound",
                            c->its_bound, "rms", c->rms, "exact",
                            (double)c->exact / (double)c->count, "judged", (Py_ssize_t)c->judged,
                            "unjudged", (Py_ssize_t)c->unjudged, "beyond", (Py_ssize_t)c->beyond,
                            "not_finite", (Py_ssize_t)c->not_finite, "worst_of",
                            nl_args[c->worst_of].name, "worst", (Py_ssize_t)c->worst, "mechanism",
                            j->mechanism, "mistakes", mistakes(j), "batch", batch, "text", text);
    else
        Py_XDECREF(batch);
    free(text);
    return all;
}

/* Describes an array to the judge, without a copy. */
static bool as_npy(PyArrayObject *from, const char *name, npy *to) {
    *to = (npy){.type = PyArray_DESCR(from)->type,
                .rank = (size_t)PyArray_NDIM(from),
                .count = (size_t)PyArray_SIZE(from),
                .data = PyArray_DATA(from)};
    if (to->rank > NPY_RANK_MAX)
        return PyErr_Format(PyExc_ValueError, "%s has more than %d axes", name, NPY_RANK_MAX),
               false;
    for (size_t i = 0; i < to->rank; i++) to->shape[i] = (size_t)PyArray_DIM(from, (int)i);
    return true;
}

/* Collects the arrays for the judge. */
static bool submit(const call *k, submission *of, npy tensors[NL_ARGS]) {
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!k->array[a]) continue;
        if (nl_args[a].extent != NL_TENSOR)
            of->vector[a] = PyArray_DATA(k->array[a]);
        else if (as_npy(k->array[a], "x", &tensors[a]))
            of->array[a] = &tensors[a];
        else
            return false;
    }
    of->p = k->p;
    return true;
}

/* Reads the rows of another batch; no rows if `given` is None. */
static bool read_batch(PyObject *given, size_t first, const nl_problem *p, const npy *x,
                       npy *part) {
    char error[256];
    if (given == Py_None) return true;
    if (!as_npy((PyArrayObject *)given, "batch", part)) return false;
    if (nl_layers[p->op].channels_first)
        PyErr_Format(PyExc_ValueError, "batch: %s does not normalize a row by itself",
                     nl_op_name(p->op));
    else if (!batches_fit(x, 1, part, first, error, sizeof error))
        PyErr_Format(PyExc_ValueError, "batch %s", error);
    return !PyErr_Occurred();
}

/* Arguments: the rows of another batch or None, the first of these rows, then the arguments of
 * truth_reference. */
PyObject *truth_judge(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    call k = {0};
    submission of = {0};
    npy tensors[NL_ARGS] = {0}, part = {0};
    PyObject *all = NULL;
    judgement *j = malloc(sizeof *j);
    (void)self;
    if (!j) return PyErr_NoMemory();
    const size_t first = PyLong_AsSize_t(args[1]);
    if (!PyErr_Occurred() && truth_read(args + 2, count - 2, names, &k) &&
        submit(&k, &of, tensors) && read_batch(args[0], first, &of.p, &tensors[NL_X], &part)) {
        bool made;
        Py_BEGIN_ALLOW_THREADS;
        made = judgement_make(j, &of);
        Py_END_ALLOW_THREADS;
        all = made ? fields(j, part.data ? &part : NULL, first) : PyErr_NoMemory();
        if (made) judgement_free(j);
    }
    return free(j), call_release(&k), all;
}
