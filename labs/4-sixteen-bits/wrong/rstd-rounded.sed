# The mistake: rstd is rounded to 16 bits: all of a row is off by the same factor.
# expect: wrong every category
# expect: hint rstd was rounded to f16
s|rstd = \(1 .*\);|rstd = rounded(v.t, \1);|
