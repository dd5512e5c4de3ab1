/* What this processor runs. The compiler's own check asks CPUID and whether the operating system
 * saves the registers (XGETBV). SPDX-License-Identifier: MIT */
#include "normlab.h"

#include <string.h>

bool nl_isa_runs(const char *isa) {
    if (strcmp(isa, "c") == 0) return true;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (strcmp(isa, "avx2") == 0)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (strcmp(isa, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    return false;
}
