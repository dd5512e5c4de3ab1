# Wrong: gamma is taken out of the bracket, which is right only where gamma is constant.
# expect: points 10..10
# expect: hint gamma outside the bracket
# expect: wrong dx
# expect: wrong dgamma and dbeta
# expect: wrong dresidual, eps, gamma
# expect: wrong in place
# expect: wrong 16-bit storage
# expect: wrong uneven data
s|nl_g(row, i)|nl_load(v.t, row.dy, i)|
s|nl_put_dx(row, i, |&nl_gain(v.gamma, false, i) * |
