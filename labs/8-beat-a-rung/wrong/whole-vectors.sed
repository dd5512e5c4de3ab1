# The mistake: the last vector of a row is loaded and stored whole, beyond the end of the row.
# expect: wrong every category
# expect: hint past its end
s|return row.c - i < VLEN.*|(void)row, (void)i;\n    return VLEN;|
