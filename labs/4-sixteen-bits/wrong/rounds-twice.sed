# The mistake: xhat is always rounded before the gain, also where the problem asks for one rounding.
# expect: wrong every category but cast before the weight
# expect: hint cast before the weight, not last
s|v.cast_before_weight ? \(.*\) : .*;|\1;|
