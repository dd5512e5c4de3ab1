/* The extension normlab._core. The package around it has the signatures and documentation.
 * SPDX-License-Identifier: MIT */
#define NORMLAB_IMPORTS_NUMPY
#include "functions.h"
#include "cases/case.h"

static PyMethodDef methods[] = {
    {"forward", (PyCFunction)(void (*)(void))layers_forward, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"backward", (PyCFunction)(void (*)(void))layers_backward, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"forward_of_tensors", (PyCFunction)(void (*)(void))tensors_forward, METH_FASTCALL, NULL},
    {"reference", (PyCFunction)(void (*)(void))truth_reference, METH_FASTCALL | METH_KEYWORDS,
     NULL},
    {"judge", (PyCFunction)(void (*)(void))truth_judge, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"case", data_case, METH_O, NULL},
    {"museum", data_museum, METH_NOARGS, NULL},
    {"implementations", table_implementations, METH_NOARGS, NULL},
    {"best", table_best, METH_VARARGS, NULL},
    {"race", race_calls, METH_VARARGS, NULL},
    {"race_cases", race_cases, METH_VARARGS, NULL},
    {"machine", race_machine, METH_VARARGS, NULL},
    {0},
};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "_core",
                                        .m_size = -1,
                                        .m_methods = methods};

/* Adds {"layernorm": 1, ...}. */
static bool add_names(PyObject *module, const char *what, int count, const char *(*name)(int)) {
    PyObject *all = PyDict_New();
    bool ok = all;
    for (int i = 0; ok && i < count; i++) {
        PyObject *number = PyLong_FromLong(i);
        ok = number && PyDict_SetItemString(all, name(i), number) == 0;
        Py_XDECREF(number);
    }
    ok = ok && PyModule_AddObjectRef(module, what, all) == 0;
    Py_XDECREF(all);
    return ok;
}

PyMODINIT_FUNC PyInit__core(void) {
    import_array();
    PyObject *module = PyModule_Create(&definition);
    if (module && call_begin() && add_names(module, "OPS", NL_OPS, op_name) &&
        add_names(module, "PASSES", NL_PASSES, pass_name) &&
        add_names(module, "DTYPES", NL_DTYPES, dtype_name) &&
        PyModule_AddStringConstant(module, "VERSION", NL_VERSION) == 0 &&
        PyModule_AddIntConstant(module, "MAX_THREADS", nl_max_threads()) == 0)
        return module;
    Py_XDECREF(module);
    return NULL;
}
