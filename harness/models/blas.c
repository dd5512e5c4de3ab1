/* OpenBLAS by dlopen. The prototypes follow the CBLAS standard, with 32-bit int.
 * SPDX-License-Identifier: MIT */
#include "models/blas.h"
#include "normlab.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };

static void (*gemm)(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                    int lda, const float *b, int ldb, float beta, float *c, int ldc);
static void (*gemv)(int order, int t, int m, int n, float alpha, const float *a, int lda,
                    const float *x, int incx, float beta, float *y, int incy);
static char *(*config)(void);

/* dlsym returns a data pointer; POSIX guarantees that it can hold a function's address. */
static bool find(void *library, const char *name, void *to) {
    void *found = dlsym(library, name);
    memcpy(to, &found, sizeof found);
    return found != NULL;
}

static void *open_library(void) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib",
                                        "/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
                                        "/usr/local/opt/openblas/lib/libopenblas.dylib"};
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* If an x86-64 processor is newer than OpenBLAS, OpenBLAS takes its SSE3 kernels, which are several
 * times slower. It reads OPENBLAS_CORETYPE when it is loaded. */
static void *open_known(void) {
    void *library = open_library();
    if (!library || !find(library, "openblas_get_config", &config) ||
        !strstr(config(), " Prescott ") || !nl_isa_runs("avx2") || getenv("OPENBLAS_CORETYPE"))
        return library;
    setenv("OPENBLAS_CORETYPE", nl_isa_runs("avx512") ? "SkylakeX" : "Haswell", 1);
    dlclose(library);
    return open_library();
}

bool blas_open(const char **why) {
    static void *library;
    void (*threads)(int) = NULL;
    if (!library) library = open_known();
    *why = "there is no OpenBLAS here: apt-get install libopenblas0-pthread, dnf install openblas, "
           "pacman -S openblas, brew install openblas";
    if (!library) return false;
    *why = "the OpenBLAS here lacks cblas_sgemm, cblas_sgemv, openblas_set_num_threads or "
           "openblas_get_config";
    if (!find(library, "cblas_sgemm", &gemm) || !find(library, "cblas_sgemv", &gemv) ||
        !find(library, "openblas_set_num_threads", &threads) ||
        !find(library, "openblas_get_config", &config))
        return false;
    threads(1);
    return true;
}

const char *blas_version(void) {
    return config();
}

/* For a single row OpenBLAS's matrix-vector product is faster. */
void blas_multiply(size_t m, size_t n, size_t k, float alpha, matrix a, matrix b, float beta,
                   float *c, size_t ldc) {
    if (m == 1 && !a.transposed)
        gemv(ROW_MAJOR, b.transposed ? NO_TRANSPOSE : TRANSPOSE, (int)(b.transposed ? n : k),
             (int)(b.transposed ? k : n), alpha, b.at, (int)b.ld, a.at, 1, beta, c, 1);
    else
        gemm(ROW_MAJOR, a.transposed ? TRANSPOSE : NO_TRANSPOSE,
             b.transposed ? TRANSPOSE : NO_TRANSPOSE, (int)m, (int)n, (int)k, alpha, a.at,
             (int)a.ld, b.at, (int)b.ld, beta, c, (int)ldc);
}
