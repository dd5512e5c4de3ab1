/* SPDX-License-Identifier: MIT */
#include "arrays.h"

/* Calls a function of normlab._arrays. NULL: raised. */
static PyObject *convert(const char *function, PyObject *of, PyObject *more) {
    PyObject *module = PyImport_ImportModule("normlab._arrays"), *found = NULL;
    if (module && more) found = PyObject_CallMethod(module, function, "OO", of, more);
    Py_XDECREF(module);
    return found;
}

PyArrayObject *array_from(PyObject *given, const char *name) {
    if (PyArray_CheckExact(given)) return (PyArrayObject *)Py_NewRef(given);
    PyObject *text = PyUnicode_FromString(name), *array = convert("as_array", given, text);
    Py_XDECREF(text);
    return (PyArrayObject *)array;
}

PyObject *array_like(PyArrayObject *made, PyObject *x) {
    if (PyArray_Check(x)) return Py_NewRef((PyObject *)made);
    return convert("as_given", (PyObject *)made, x);
}

/* NumPy's number of ml_dtypes.bfloat16, which depends on the order in which types register. */
static bool is_bfloat16(PyArrayObject *a) {
    static int number = -1;
    PyArray_Descr *type = PyArray_DESCR(a);
    if (type->type_num < NPY_USERDEF || PyArray_ITEMSIZE(a) != 2) return false;
    if (type->type_num == number) return true;
    PyObject *name = PyObject_GetAttrString((PyObject *)type->typeobj, "__name__");
    const bool found = name && PyUnicode_CompareWithASCIIString(name, "bfloat16") == 0;
    if (found) number = type->type_num;
    Py_XDECREF(name);
    PyErr_Clear();
    return found;
}

bool array_dtype(PyArrayObject *a, const char *name, nl_dtype *out) {
    PyArray_Descr *type = PyArray_DESCR(a);
    if (PyArray_ISNOTSWAPPED(a)) {
        if (type->type_num == NPY_FLOAT) return *out = NL_F32, true;
        if (type->type_num == NPY_HALF) return *out = NL_F16, true;
        if (is_bfloat16(a)) return *out = NL_BF16, true;
    }
    if (name)
        PyErr_Format(PyExc_TypeError, "%s is %S; it must be float32, float16 or ml_dtypes.bfloat16",
                     name, type);
    return false;
}

bool array_problem(PyArrayObject *x, bool channels_last, nl_problem *p) {
    const bool channels_first = nl_layers[p->op].channels_first && !channels_last;
    const int axes = PyArray_NDIM(x), least = nl_layers[p->op].channels_first ? 2 : 1;
    if (axes < least) {
        PyErr_Format(PyExc_ValueError, "x has %d axes; %s takes at least %d", axes,
                     nl_op_name(p->op), least);
        return false;
    }
    const int features = channels_first ? 1 : axes - 1;
    p->n = p->s = 1, p->c = (size_t)PyArray_DIM(x, features);
    for (int i = 0; i < features; i++) p->n *= (size_t)PyArray_DIM(x, i);
    for (int i = features + 1; i < axes; i++) p->s *= (size_t)PyArray_DIM(x, i);
    return true;
}

/* The shape of an argument: x's shape, x's shape without the last axis, or (c,). */
static int shape_of(nl_arg arg, const nl_problem *p, PyArrayObject *x,
                    npy_intp shape[NPY_MAXDIMS]) {
    const nl_extent extent = nl_args[arg].extent;
    const int axes = PyArray_NDIM(x);
    for (int i = 0; i < axes; i++) shape[i] = PyArray_DIM(x, i);
    if (extent == NL_TENSOR) return axes;
    if (extent == NL_GROUPS && !nl_layers[p->op].by_channel) return axes - 1;
    shape[0] = (npy_intp)p->c;
    return 1;
}

static PyObject *shape_tuple(int axes, const npy_intp *shape) {
    PyObject *tuple = PyTuple_New(axes);
    for (int i = 0; tuple && i < axes; i++) PyTuple_SetItem(tuple, i, PyLong_FromSsize_t(shape[i]));
    return tuple;
}

static bool wrong_shape(const char *name, PyArrayObject *a, PyArrayObject *x, int axes,
                        const npy_intp *shape) {
    PyObject *has = shape_tuple(PyArray_NDIM(a), PyArray_DIMS(a)),
             *of = shape_tuple(PyArray_NDIM(x), PyArray_DIMS(x)),
             *expected = shape_tuple(axes, shape);
    if (has && of && expected)
        PyErr_Format(PyExc_ValueError, "%s has shape %S; x of shape %S needs %S", name, has, of,
                     expected);
    Py_XDECREF(has), Py_XDECREF(of), Py_XDECREF(expected);
    return false;
}

static bool has_shape(PyArrayObject *a, const char *name, nl_arg arg, const nl_problem *p,
                      PyArrayObject *x) {
    npy_intp shape[NPY_MAXDIMS];
    const int axes = shape_of(arg, p, x, shape);
    return (axes == PyArray_NDIM(a) && PyArray_CompareLists(shape, PyArray_DIMS(a), axes)) ||
           wrong_shape(name, a, x, axes, shape);
}

static bool is_written(const nl_problem *p, nl_arg arg) {
    return nl_passes[p->pass].writes & NL_BIT(arg);
}

static bool in_order(PyArrayObject *a, const char *name, nl_arg arg, const nl_problem *p) {
    if (PyArray_IS_C_CONTIGUOUS(a)) return true;
    PyErr_Format(PyExc_ValueError,
                 is_written(p, arg) ? "%s is not C-contiguous: results need C-contiguous arrays"
                                    : "%s is not C-contiguous: pass numpy.ascontiguousarray(%s)",
                 name, name);
    return false;
}

bool array_fits(PyArrayObject *a, const char *name, nl_arg arg, const nl_problem *p,
                PyArrayObject *x) {
    return has_shape(a, name, arg, p, x) && in_order(a, name, arg, p);
}

static nl_stride *stride_of(nl_problem *p, nl_arg arg) {
    switch (arg) {
    case NL_X: return &p->x_stride;
    case NL_DY: return &p->dy_stride;
    case NL_RESIDUAL:
    case NL_GATE: return &p->residual_stride;
    case NL_RESIDUAL_OUT:
    case NL_DGATE: return &p->residual_out_stride;
    default: return &p->y_stride;
    }
}

int array_merge(int axes, const npy_intp *lengths, const npy_intp *steps, npy_intp size,
                npy_intp count[2], npy_intp step[2]) {
    const int last = axes - 1;
    int left = 0;
    if (lengths[last] != 1 && steps[last] != size) return 3;
    for (int i = last - 1; i >= 0; i--) {
        const npy_intp here = lengths[i], by = steps[i];
        if (here == 1) continue;
        if (left && by == step[left - 1] * count[left - 1]) {
            count[left - 1] *= here;
            continue;
        }
        if (left == 2 || by <= 0 || by % size) return 3;
        count[left] = here, step[left++] = by;
    }
    return left;
}

/* Sets the strides of a tensor's rows, and the inner dimension that all tensors share. */
static bool set_rows(PyArrayObject *a, const char *name, nl_arg arg, nl_problem *p) {
    npy_intp count[2], step[2] = {0};
    if (PyArray_IS_C_CONTIGUOUS(a)) return true;
    const int left = array_merge(PyArray_NDIM(a), PyArray_DIMS(a), PyArray_STRIDES(a),
                                 PyArray_ITEMSIZE(a), count, step);
    const bool written = is_written(p, arg);
    if (left > 2) {
        PyErr_Format(PyExc_ValueError,
                     written ? "the rows of %s are not evenly spaced, nor in one inner dimension: "
                               "pass a new array of numpy.empty(), and copy the result"
                             : "the rows of %s are not evenly spaced, nor in one inner dimension: "
                               "pass numpy.ascontiguousarray(%s)",
                     name, name);
        return false;
    }
    if (left == 2 && p->inner && p->inner != (size_t)count[0]) {
        PyErr_Format(PyExc_ValueError,
                     "%s has an inner dimension of %zd rows, an earlier array %zu: pass %s", name,
                     count[0], p->inner,
                     written ? "an array of numpy.empty()" : "a copy of one of them");
        return false;
    }
    if (left == 2) p->inner = (size_t)count[0];
    *stride_of(p, arg) = (nl_stride){.row = (size_t)(step[0] / PyArray_ITEMSIZE(a)),
                                     .outer = (size_t)(step[1] / PyArray_ITEMSIZE(a))};
    return true;
}

bool array_parameters(PyArrayObject *a, const char *name, nl_problem *p, PyArrayObject *x) {
    const PyArray_Descr *type = PyArray_DESCR(a), *of = PyArray_DESCR(x);
    const bool wide = type->type_num == NPY_FLOAT;
    p->parameters = wide ? NL_F32 : p->dtype;
    if (PyArray_ISNOTSWAPPED(a) && (wide || type->type_num == of->type_num)) return true;
    if (of->type_num == NPY_FLOAT)
        PyErr_Format(PyExc_TypeError, "%s is %S; it must be float32", name, type);
    else
        PyErr_Format(PyExc_TypeError, "%s is %S; it must be float32, or %S as x", name, type, of);
    return false;
}

/* The number of the NumPy type that an argument needs. */
static int type_of(nl_arg arg, const nl_problem *p, PyArrayObject *x) {
    const nl_extent extent = nl_args[arg].extent;
    const bool narrow = extent == NL_TENSOR || (extent == NL_PARAMETERS && p->parameters != NL_F32);
    return narrow ? PyArray_DESCR(x)->type_num : NPY_FLOAT;
}

bool array_suits(PyArrayObject *a, const char *name, nl_arg arg, nl_problem *p, PyArrayObject *x) {
    const nl_extent extent = nl_args[arg].extent;
    const bool tensor = extent == NL_TENSOR;
    PyArray_Descr *type = PyArray_DESCR(a), *expected = PyArray_DESCR(x);
    if (type->type_num == type_of(arg, p, x) && PyArray_ISNOTSWAPPED(a)) {
        const bool strided = tensor && !nl_layers[p->op].by_channel;
        if (!has_shape(a, name, arg, p, x) ||
            !(strided ? set_rows(a, name, arg, p) : in_order(a, name, arg, p)))
            return false;
        if (PyArray_ISWRITEABLE(a) || !is_written(p, arg)) return true;
        return PyErr_Format(PyExc_ValueError, "%s is read-only: pass a copy", name), false;
    }
    if (tensor)
        PyErr_Format(PyExc_TypeError, "%s is %S, and x is %S", name, type, expected);
    else if (extent == NL_PARAMETERS && p->dtype != NL_F32)
        PyErr_Format(PyExc_TypeError, "%s is %S; all parameters must have one type, %s", name, type,
                     p->parameters == NL_F32 ? "float32" : "the type of x");
    else
        PyErr_Format(PyExc_TypeError, "%s is %S; it must be float32", name, type);
    return false;
}

PyArrayObject *array_zeros(nl_arg arg, const nl_problem *p, PyArrayObject *x, int type) {
    npy_intp shape[NPY_MAXDIMS];
    const int axes = shape_of(arg, p, x, shape);
    return (PyArrayObject *)PyArray_ZEROS(axes, shape, type, 0);
}

PyArrayObject *array_new(nl_arg arg, const nl_problem *p, PyArrayObject *x) {
    if (nl_args[arg].extent != NL_TENSOR) return array_zeros(arg, p, x, type_of(arg, p, x));
    PyArray_Descr *type = PyArray_DESCR(x);
    Py_INCREF(type);
    return (PyArrayObject *)PyArray_Empty(PyArray_NDIM(x), PyArray_DIMS(x), type, 0);
}
