/* What this processor runs. The compiler's own check asks CPUID and whether the operating system
 * saves the registers (XGETBV). SPDX-License-Identifier: MIT */
#include "normlab.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Each is a superset of those above it. "c" is plain C. */
static const char *const names[] = {
    "c",
#if defined(__x86_64__)
    "sse2",
    "avx2",
    "avx512",
#elif defined(__aarch64__)
    "neon",
#endif
};
enum { ISAS = sizeof names / sizeof *names };

static bool processor_has(int isa) {
#if defined(__x86_64__)
    unsigned a, b, c = 0, d; /* clang 14's check does not know F16C by name */
    bool f16c = __get_cpuid(1, &a, &b, &c, &d) && c & bit_F16C;
    __builtin_cpu_init();
    bool avx2 = f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == 2) return avx2;
    if (isa == 3)
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
    return isa < ISAS;
}

static int find(const char *isa) {
    int i = ISAS - 1; /* the widest is asked for most often */
    while (i >= 0 && strcmp(names[i], isa) != 0) i--;
    return i;
}

/* The best there is, or at most what the environment's NL_ISA says. Asked once. */
static int best(void) {
    static atomic_int known; /* 1 + its number */
    int isa = atomic_load_explicit(&known, memory_order_relaxed) - 1;
    if (isa >= 0) return isa;
    const char *wish = getenv("NL_ISA");
    int most = wish ? find(wish) : -1;
    isa = most >= 0 ? most : ISAS - 1;
    while (isa > 0 && !processor_has(isa)) isa--;
    atomic_store_explicit(&known, isa + 1, memory_order_relaxed);
    return isa;
}

bool nl_isa_runs(const char *isa) {
    int i = find(isa);
    return i >= 0 && i <= best();
}

/* Of those that optimized/ was compiled for: NL_COMPILED is " c avx2 ". */
const char *nl_isa_best(void) {
    for (int i = best(); i > 0; i--) {
        const char *at = strstr(NL_COMPILED, names[i]);
        if (at && at[-1] == ' ' && at[strlen(names[i])] == ' ') return names[i];
    }
    return names[0];
}
