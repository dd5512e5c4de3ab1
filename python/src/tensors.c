/* Row norms of PyTorch's tensors, by their addresses: making NumPy arrays of them would take longer
 * than a small norm. SPDX-License-Identifier: MIT */
#include "functions.h"
#include "strides.h"

enum { OF_OP, OF_DTYPE, OF_PARAMETERS, OF_BEFORE_WEIGHT, OF_ROUNDED_SUM, OF_EPS, OF_THREADS };
enum { OF_X = OF_THREADS + 1, OF_RESIDUAL, OF_WEIGHT, OF_BIAS, OF_Y, OF_TOTAL, OF_ALL };

static void *data_of(PyObject *of) {
    PyObject *at = of ? PyObject_CallMethod(of, "data_ptr", NULL) : NULL;
    void *data = at ? PyLong_AsVoidPtr(at) : NULL;
    Py_XDECREF(at);
    return data;
}

/* Raises if a tensor of `elements` elements has no memory, as after untyped_storage().resize_(0).
 * Then its address is its offset, so only low addresses need a look at the storage. */
static bool get_address(PyObject *tensor, size_t elements, void **out) {
    enum { LOW_BITS = 40 };
    if (tensor == Py_None) return *out = NULL, true;
    *out = data_of(tensor);
    if (elements && (uintptr_t)*out >> LOW_BITS == 0 && !PyErr_Occurred()) {
        PyObject *storage = PyObject_CallMethod(tensor, "untyped_storage", NULL);
        if (!data_of(storage) && !PyErr_Occurred())
            PyErr_SetString(PyExc_RuntimeError, "a tensor's storage is freed");
        Py_XDECREF(storage);
    }
    return !PyErr_Occurred();
}

/* Copies a tuple of whole numbers; returns its length, or -1: raised. */
static int get_numbers(PyObject *tuple, npy_intp out[NPY_MAXDIMS]) {
    const Py_ssize_t count = tuple ? PyTuple_Size(tuple) : -1;
    for (Py_ssize_t i = 0; i < count && i < NPY_MAXDIMS; i++)
        out[i] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, i));
    Py_XDECREF(tuple);
    return PyErr_Occurred() ? -1 : count > NPY_MAXDIMS ? NPY_MAXDIMS : (int)count;
}

static int get_shape(PyObject *tensor, npy_intp shape[NPY_MAXDIMS]) {
    return get_numbers(PyObject_GetAttrString(tensor, "shape"), shape);
}

/* Sets the strides of a tensor's rows. False: raised, or the library cannot use the rows. */
static bool get_rows(PyObject *tensor, int axes, const npy_intp *shape, nl_problem *p,
                     nl_stride *out) {
    npy_intp steps[NPY_MAXDIMS], count[2], step[2] = {0};
    if (get_numbers(PyObject_CallMethod(tensor, "stride", NULL), steps) != axes) return false;
    const int left = array_merge(axes, shape, steps, 1, count, step);
    if (left > 2) return false;
    if (left == 2) {
        if (p->inner && p->inner != (size_t)count[0]) return false;
        p->inner = (size_t)count[0];
    }
    *out = (nl_stride){.row = (size_t)step[0], .outer = (size_t)step[1]};
    return nl_rows_are_apart(p, nl_stride_of(p, *out)); /* false after expand() or unfold() */
}

static bool get_vector(PyObject *tensor, const nl_problem *p, void **out) {
    npy_intp shape[NPY_MAXDIMS], step[NPY_MAXDIMS];
    if (tensor == Py_None) return *out = NULL, true;
    return get_shape(tensor, shape) == 1 && shape[0] == (npy_intp)p->c &&
           get_numbers(PyObject_CallMethod(tensor, "stride", NULL), step) == 1 &&
           (step[0] == 1 || p->c == 1) && get_address(tensor, p->c, out);
}

static bool get_problem(PyObject *const *args, nl_problem *p) {
    npy_intp shape[NPY_MAXDIMS];
    const int axes = get_shape(args[OF_X], shape);
    if (axes < 1 || axes == NPY_MAXDIMS || shape[axes - 1] == 0) return false;
    *p = (nl_problem){.op = (nl_op)PyLong_AsLong(args[OF_OP]), .n = 1, .s = 1};
    p->dtype = (nl_dtype)PyLong_AsLong(args[OF_DTYPE]);
    p->parameters = (nl_dtype)PyLong_AsLong(args[OF_PARAMETERS]);
    p->casting = PyObject_IsTrue(args[OF_BEFORE_WEIGHT]) ? NL_CAST_BEFORE_WEIGHT : NL_CAST_LAST;
    p->sum = PyObject_IsTrue(args[OF_ROUNDED_SUM]) ? NL_SUM_ROUNDED : NL_SUM_FLOAT;
    if (PyErr_Occurred() || !call_number(args[OF_EPS], "eps", &p->eps)) return false;
    p->c = (size_t)shape[axes - 1];
    for (int i = 0; i + 1 < axes; i++) p->n *= (size_t)shape[i];
    return get_rows(args[OF_X], axes, shape, p, &p->x_stride) &&
           (args[OF_RESIDUAL] == Py_None ||
            get_rows(args[OF_RESIDUAL], axes, shape, p, &p->residual_stride));
}

PyObject *tensors_forward(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    nl_problem p;
    void *x, *residual, *weight, *bias, *y, *total;
    (void)self;
    if (count != OF_ALL) return PyErr_Format(PyExc_TypeError, "%d arguments", OF_ALL);
    const int threads = (int)PyLong_AsLong(args[OF_THREADS]);
    if (!get_problem(args, &p) || !get_address(args[OF_X], p.n, &x) ||
        !get_address(args[OF_RESIDUAL], p.n, &residual) ||
        !get_vector(args[OF_WEIGHT], &p, &weight) || !get_vector(args[OF_BIAS], &p, &bias) ||
        !get_address(args[OF_Y], p.n, &y) || !get_address(args[OF_TOTAL], p.n, &total))
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_False);
    const nl_forward_args a = {.x = x,
                               .residual = residual,
                               .gamma = weight,
                               .beta = bias,
                               .y = y,
                               .residual_out = total};
    nl_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = nl_forward(NULL, &p, &a, threads);
    Py_END_ALLOW_THREADS;
    return status == NL_OK ? Py_NewRef(Py_True) : call_raise(status);
}
