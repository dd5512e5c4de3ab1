/* OpenMP threads; without OpenMP, one thread. SPDX-License-Identifier: MIT */
#include "parallel.h"
#include "normlab.h"

#ifdef _OPENMP
#include <omp.h>
#endif

int nl_max_threads(void) {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

bool nl_has_openmp(void) {
#ifdef _OPENMP
    return true;
#else
    return false;
#endif
}

void nl_parallel_for(size_t n, int threads, void (*body)(void *, size_t, size_t), void *context) {
    size_t pieces = threads < 1 ? 1 : (size_t)threads;
    if (pieces > n) pieces = n;
    if (pieces == 1) { /* entering a parallel region costs a fraction of a microsecond even then */
        body(context, 0, n);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads((int)pieces)
#endif
    for (size_t i = 0; i < pieces; i++) {
        size_t size = n / pieces, rest = n % pieces; /* the first `rest` pieces take one extra */
        size_t begin = i * size + (i < rest ? i : rest);
        body(context, begin, begin + size + (i < rest));
    }
}
