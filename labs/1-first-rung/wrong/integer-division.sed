# Wrong: 1 / v.c divides integers, and is 0 where a row has more than one element.
# expect: points 0..0
# expect: hint is 1 / c a division of integers?
# expect: wrong the formula
# expect: wrong eps
# expect: wrong rstd
# expect: wrong every width
# expect: wrong 16-bit storage
# expect: wrong arguments left out
# expect: wrong in place and residual
# expect: wrong uneven data
s|sqrtf(\(.*\) / v.c|sqrtf(1 / v.c * \1|
