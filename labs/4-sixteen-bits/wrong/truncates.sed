# The mistake: to_f16 drops the bits that do not fit, instead of rounding to the nearest number.
# expect: wrong every category
# expect: hint rounded towards zero
s|rintf(size|(size|
s| + 0xfff + (u >> 13 & 1)||
