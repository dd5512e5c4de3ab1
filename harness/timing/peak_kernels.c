/* Chains of multiply-adds in registers. The build compiles this file once for each ISA, and defines
 * PEAK_NAME (peak_avx2). An ISA without FMA multiplies, then adds. SPDX-License-Identifier: MIT */
#include "timing/limit.h"
#include "vec/vec.h"

/* x / 2 + 1 stays below 2. The number of chains is a constant, so the chains stay in registers. */
NL_INLINE double run(size_t steps, const int chains) {
    const vf half = vset(0.5F), one = vset(1);
    vf x[PEAK_CHAINS];
#pragma GCC unroll 12
    for (int k = 0; k < chains; k++) x[k] = vset((float)k / PEAK_CHAINS);
    for (size_t i = 0; i < steps; i++)
#pragma GCC unroll 12
        for (int k = 0; k < chains; k++) x[k] = vfma(x[k], half, one);
#pragma GCC unroll 12
    for (int k = 0; k < chains; k++) __asm__ volatile("" : : "m"(x[k]));
    return 2.0 * VLEN * (double)steps * chains;
}

double PEAK_NAME(size_t steps, int chains);

double PEAK_NAME(size_t steps, int chains) {
    switch (chains) {
    case 1: return run(steps, 1);
    case 2: return run(steps, 2);
    case 4: return run(steps, 4);
    case 8: return run(steps, 8);
    default: return run(steps, PEAK_CHAINS);
    }
}
