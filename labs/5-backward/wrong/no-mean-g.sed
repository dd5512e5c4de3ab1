# Wrong: the formula of RMSNorm: the term mean(g) is left out.
# expect: points 0..0
# expect: hint the term mean(g) was left out
# expect: wrong dx
# expect: wrong dgamma and dbeta
# expect: wrong dresidual, eps, gamma
# expect: wrong without gamma
# expect: wrong in place
# expect: wrong 16-bit storage
# expect: wrong uneven data
s| - mean_g||
