# The mistake: the loops end with the last whole vector.
# expect: wrong every category but whole vectors
# expect: hint the tail
s|i < row.c;|i + VLEN <= row.c;|
