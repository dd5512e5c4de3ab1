# Wrong: E[x^2] - mean^2, declared as NL_SHIFTED.
# expect: hint one-pass variance, E[x^2] - mean^2
# expect: wrong a mean far from zero
# expect: wrong rows of one value
s|shift = nl_x(row, 0)|shift = 0|
