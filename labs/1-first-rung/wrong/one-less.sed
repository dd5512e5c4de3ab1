# Wrong: divides by c - 1, as the sample variance does.
# expect: points 0..0
# expect: hint n - 1 for n
# expect: wrong the formula
# expect: wrong eps
# expect: wrong rstd
# expect: wrong every width
# expect: wrong 16-bit storage
# expect: wrong arguments left out
# expect: wrong in place and residual
# expect: wrong uneven data
s|/ v.c|/ (v.c - 1)|
