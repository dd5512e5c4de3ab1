/* SPDX-License-Identifier: MIT */
#include "functions.h"
#include "judge/judgement.h"

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

static PyObject *fields(const judgement *j) {
    const score *c = &j->score;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return PyErr_NoMemory();
    judgement_print(j, nl_args[subject_tensor(&j->s)].name, out);
    PyObject *all = NULL;
    if (fclose(out) == 0)
        all = Py_BuildValue("{s:s,s:d,s:d,s:d,s:d,s:n,s:n,s:n,s:s,s:n,s:s,s:N,s:s}", "verdict",
                            judgement_verdict(j), "largest", c->largest, "bound", c->its_bound,
                            "rms", c->rms, "exact", (double)c->exact / (double)c->count, "judged",
                            (Py_ssize_t)c->judged, "beyond", (Py_ssize_t)c->beyond, "not_finite",
                            (Py_ssize_t)c->not_finite, "worst_of", nl_args[c->worst_of].name,
                            "worst", (Py_ssize_t)c->worst, "mechanism", j->mechanism, "mistakes",
                            mistakes(j), "text", text);
    free(text);
    return all;
}

/* The tensors as the judge reads them. */
static bool submit(const call *k, submission *of, npy tensors[NL_ARGS]) {
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        PyArrayObject *from = k->array[a];
        if (!from) continue;
        if (nl_args[a].extent != NL_TENSOR) {
            of->vector[a] = PyArray_DATA(from);
            continue;
        }
        npy *to = &tensors[a];
        *to = (npy){.type = PyArray_DESCR(from)->type,
                    .rank = (size_t)PyArray_NDIM(from),
                    .count = (size_t)PyArray_SIZE(from),
                    .data = PyArray_DATA(from)};
        if (to->rank > NPY_RANK_MAX)
            return PyErr_Format(PyExc_ValueError, "x has more than %d axes", NPY_RANK_MAX), false;
        for (size_t i = 0; i < to->rank; i++) to->shape[i] = (size_t)PyArray_DIM(from, (int)i);
        of->array[a] = to;
    }
    return true;
}

PyObject *truth_judge(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    call k = {0};
    submission of = {0};
    npy tensors[NL_ARGS] = {0};
    PyObject *all = NULL;
    judgement *j = malloc(sizeof *j);
    (void)self;
    if (!j) return PyErr_NoMemory();
    if (truth_read(args, count, names, &k) && submit(&k, &of, tensors)) {
        bool made;
        of.p = k.p;
        Py_BEGIN_ALLOW_THREADS;
        made = judgement_make(j, &of);
        Py_END_ALLOW_THREADS;
        all = made ? fields(j) : PyErr_NoMemory();
        if (made) judgement_free(j);
    }
    return free(j), call_release(&k), all;
}
