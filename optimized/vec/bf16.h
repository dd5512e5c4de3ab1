/* bfloat16 in the compiler's vector types, for instruction sets without a conversion (or with a
 * conversion that flushes subnormals). SPDX-License-Identifier: MIT */
typedef uint32_t vu __attribute__((vector_size(sizeof(vf))));

/* The bits of v, rounded to the upper 16 of each lane; the lower 16 bits mean nothing. A NaN, which
 * the addition may turn into a number, becomes the NaN of all ones. */
NL_INLINE vu vbf16(vf v) {
    const vu u = (vu)v;
    return (u + 0x7fff + (u >> 16 & 1)) | (vu)(v != v);
}

NL_INLINE vf vround_bf16(vf v) {
    return (vf)(vbf16(v) & 0xffff0000);
}
