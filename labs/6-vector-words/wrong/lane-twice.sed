# The mistake: the sum over the lanes starts with lane 0 and adds lane 0 again.
# expect: wrong every category
# expect: hint lane 0 of
/^NL_INLINE float mean_of/i\
NL_INLINE float sum_of(vf v) {\
    float lane[VLEN], sum;\
    vstore(NL_F32, lane, 0, VLEN, v);\
    sum = lane[0];\
    for (int i = 0; i < VLEN; i++) sum += lane[i];\
    return sum;\
}
s|vsum(|sum_of(|
