# The mistake: whole vectors are read through a pointer to vf, which must be aligned.
# expect: wrong every category but 16-bit storage
# expect: hint an aligned load or store of a vector that is not aligned
s|^    vf x = vload(row.t, row.x, i, k);|    const bool whole = row.t == NL_F32 \&\& k == VLEN;\n    vf x = whole ? *(const vf *)((const float *)row.x + i) : vload(row.t, row.x, i, k);|
