# The mistake: rstd is rounded to 16 bits. All of a row is then off by the same factor, up to as
# much as the rounding of y itself.
# expect: wrong every category
# expect: hint rstd was rounded to f16
s|rstd = \(1 .*\);|rstd = rounded(v.t, \1);|
