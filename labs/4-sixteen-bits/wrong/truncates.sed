# The mistake: to_f16 drops the bits that do not fit, instead of rounding to the nearest number.
# expect: points 0..0
# expect: wrong one rounding
# expect: wrong small numbers
# expect: wrong the ends of the range
# expect: wrong cast before the weight
# expect: wrong residual
# expect: wrong long rows and large numbers
# expect: wrong arguments
# expect: hint rounded towards zero
s|rintf(size|(size|
s| + 0xfff + (u >> 13 & 1)||
