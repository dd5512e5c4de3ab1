# The mistake: the rounded sum is not normalized where the caller asks for that.
# expect: points 85..85
# expect: wrong residual
# expect: hint x + residual was not rounded first
s|row.rounds_sum ? rounded(row.t, x) : x|x|
