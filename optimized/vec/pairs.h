/* Two vectors at a time, for the instruction sets that gain nothing from storing both at once.
 * SPDX-License-Identifier: MIT */
NL_INLINE void vstore2(nl_dtype t, void *p, size_t i, vf a, vf b) {
    vstore(t, p, i, VLEN, a);
    vstore(t, p, i + VLEN, VLEN, b);
}

NL_INLINE void vstream2(nl_dtype t, void *p, size_t i, vf a, vf b) {
    vstream(t, p, i, a);
    vstream(t, p, i + VLEN, b);
}
