# Wrong: a negative variance is made 0: no NaN any more, and y is as wrong as before.
# expect: hint one-pass variance, E[x^2] - mean^2
# expect: wrong a mean far from zero
# expect: wrong rows of one value
s|shift = nl_x(row, 0)|shift = 0|
s|squares / v.c - c \* c|fmaxf(&, 0)|
