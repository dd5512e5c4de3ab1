/* vsums() for ISAs that gain nothing from reducing vectors together.
 * SPDX-License-Identifier: MIT */
NL_INLINE vf vsums(const vf v[VLEN]) {
    float sums[VLEN];
    for (int l = 0; l < VLEN; l++) sums[l] = vsum(v[l]);
    return vload(NL_F32, sums, 0, VLEN);
}
