/* Finds the ISAs that this processor runs. __builtin_cpu_supports() tests CPUID and whether the
 * operating system saves the registers (XGETBV). SPDX-License-Identifier: MIT */
#include "isa.h"
#include "normlab.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static bool always(void) {
    return true;
}

#if defined(__x86_64__)
#include <cpuid.h>

static bool has_avx2(void) {
    unsigned a, b, c = 0, d; /* clang 14's __builtin_cpu_supports() does not accept F16C */
    bool f16c = __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
    __builtin_cpu_init();
    return f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

/* Each ISA includes the ISAs above it. CMakeLists.txt has the same order. "c" is plain C. */
static const struct isa {
    const char *name;
    bool (*processor_has)(void);
} isas[] = {
    {"c", always},
#if defined(__x86_64__)
    {"sse2", always},
    {"avx2", has_avx2},
    {"avx512", has_avx512},
#elif defined(__aarch64__)
    {"neon", always},
#endif
};
enum { ISAS = sizeof isas / sizeof *isas };
_Static_assert(ISAS <= (int)NL_ISAS_MAX, "isa.h: NL_ISAS_MAX");

int nl_isa_index(const char *isa) {
    int i = ISAS - 1; /* begins with the widest ISA, the usual request */
    while (i >= 0 && strcmp(isas[i].name, isa) != 0) i--;
    return i;
}

/* The widest ISA that runs here, capped by the environment variable NL_ISA; computed once. */
static int best(void) {
    static atomic_int known; /* 1 + the result; 0: not computed yet */
    int isa = atomic_load_explicit(&known, memory_order_relaxed) - 1;
    if (isa >= 0) return isa;
    const char *wish = getenv("NL_ISA");
    int cap = wish ? nl_isa_index(wish) : -1;
    isa = cap >= 0 ? cap : ISAS - 1;
    while (isa > 0 && !isas[isa].processor_has()) isa--;
    atomic_store_explicit(&known, isa + 1, memory_order_relaxed);
    return isa;
}

bool nl_isa_runs(const char *isa) {
    int i = isa ? nl_isa_index(isa) : -1;
    return i >= 0 && i <= best();
}
