# The mistake: the loops end with the last whole vector.
# expect: points 15..15
# expect: wrong every width
# expect: wrong 16-bit storage
# expect: wrong residual and arguments
# expect: wrong uneven data
# expect: wrong subnormals
# expect: hint the tail
s|i < row.c;|i + VLEN <= row.c;|
