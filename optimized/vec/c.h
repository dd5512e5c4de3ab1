/* Plain C as an instruction set: one lane. SPDX-License-Identifier: MIT */
enum { VLEN = 1, REGISTERS = 32 }; /* lanes of a vector; registers, the maximum of all ISAs */
typedef float vf;

NL_INLINE vf vset(float f) {
    return f;
}

NL_INLINE vf vfma(vf a, vf b, vf c) {
    return a * b + c;
}

NL_INLINE vf vload(nl_dtype t, const void *p, size_t i, size_t k) {
    return k ? nl_load(t, p, i) : 0;
}

NL_INLINE void vstore(nl_dtype t, void *p, size_t i, size_t k, vf v) {
    if (k) nl_store(t, p, i, v);
}

NL_INLINE void vstream(nl_dtype t, void *p, size_t i, vf v) {
    nl_store(t, p, i, v);
}

NL_INLINE vf vround(nl_dtype t, vf v) {
    return nl_round(t, v);
}

NL_INLINE vf vkeep(vf v, size_t k) {
    return k ? v : 0;
}

NL_INLINE float vsum(vf v) {
    return v;
}

#include "pairs.h"
#include "sums.h"

NL_INLINE void vfence(void) {
}
