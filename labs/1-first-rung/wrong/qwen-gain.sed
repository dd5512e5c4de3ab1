# Wrong: the gain of Qwen2RMSNorm, 1 + w, where RMSNorm has gamma.
# expect: points 10..10
# expect: hint a gain of 1 + gamma for gamma
# expect: wrong the formula
# expect: wrong eps
# expect: wrong rstd
# expect: wrong every width
# expect: wrong 16-bit storage
# expect: wrong in place and residual
# expect: wrong uneven data
s|nl_view row = .*|&\n        row.plus_one = true;|
