# The mistake: the squares and their sum are rounded to 16 bits: in long rows the sum stops growing.
# expect: wrong every category
# expect: hint sums and squares in 16 bits
s|squares += x \* x|squares = rounded(v.t, squares + rounded(v.t, x * x))|
