# Wrong: gamma is taken out of the bracket, which is right only where gamma is constant.
# expect: hint gamma outside the bracket
# expect: wrong every category but without gamma
s|nl_g(row, i)|nl_load(v.t, row.dy, i)|
s|nl_put_dx(row, i, |&nl_gain(v.gamma, false, i) * |
