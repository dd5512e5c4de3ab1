# Wrong: dx as if mean and rstd did not depend on x: both means are left out.
# expect: points 0..0
# expect: hint dx as if mean and rstd were constant
# expect: wrong dx
# expect: wrong dgamma and dbeta
# expect: wrong dresidual, eps, gamma
# expect: wrong without gamma
# expect: wrong in place
# expect: wrong 16-bit storage
# expect: wrong uneven data
s|nl_put_dx(.*|nl_put_dx(row, i, rstd * nl_g(row, i));|
