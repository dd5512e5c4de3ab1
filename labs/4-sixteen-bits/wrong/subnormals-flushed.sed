# The mistake: f16 numbers without a leading one, below 2^-14, become zero in both directions.
# expect: wrong small numbers
# expect: wrong one rounding
# expect: hint flushed to zero
s|^    if (exponent == 0) {.*|    if (exponent == 0) return nl_from_bits(sign);|
/float size = .*0x1p-24f/,/}/d
s|(sign . (uint32_t)rintf(.*));|sign;|
