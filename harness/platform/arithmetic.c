/* Reads the control registers directly: the changed settings may affect a comparison of numbers,
 * and fegetround() of x86-64 reads the x87 unit only. SPDX-License-Identifier: MIT */
#include "platform/arithmetic.h"

#include <fenv.h>

bool arithmetic_is_usual(void) {
#if defined(__x86_64__) && defined(__GLIBC__)
    enum { CONTROL = 0x37f, EMPTY = 0xffff, MXCSR = 0x1f80, FLAGS = 0x3f }; /* fninit, ldmxcsr */
    fenv_t now;
    fegetenv(&now);
    return now.__control_word == CONTROL && now.__tags == EMPTY && (now.__mxcsr & ~FLAGS) == MXCSR;
#elif defined(__aarch64__) && defined(__GLIBC__)
    fenv_t now;
    fegetenv(&now);
    return now.__fpcr == 0;
#else
    return fegetround() == FE_TONEAREST;
#endif
}

void arithmetic_restore(void) {
    fesetenv(FE_DFL_ENV);
}
