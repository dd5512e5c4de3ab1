# Wrong: dx as if only the mean depended on x: the term of the variance is left out.
# expect: points 0..0
# expect: hint the term xhat * mean(g * xhat) was left out
# expect: wrong dx
# expect: wrong dgamma and dbeta
# expect: wrong dresidual, eps, gamma
# expect: wrong without gamma
# expect: wrong in place
# expect: wrong 16-bit storage
# expect: wrong uneven data
s| - d \* slope||
