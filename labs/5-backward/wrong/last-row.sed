# Wrong: dgamma and dbeta are set for each row, and keep those of the last.
# expect: hint the last row only
# expect: wrong dgamma and dbeta
# expect: wrong in place
s|\(v.d[a-z]*\[i\]\) +=|\1 =|
