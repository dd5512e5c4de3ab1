# The mistake: xhat is always rounded before the gain, also where the problem asks for one
# rounding. As many outputs are off by one step as if another framework had computed them.
# expect: points 15..15
# expect: wrong one rounding
# expect: wrong small numbers
# expect: wrong the ends of the range
# expect: wrong residual
# expect: wrong long rows and large numbers
# expect: wrong arguments
# expect: hint cast before the weight, not last
s|v.cast_before_weight ? \(.*\) : .*;|\1;|
