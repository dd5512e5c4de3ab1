# The mistake: the rounded sum is not normalized where the caller asks for that.
# expect: wrong residual
# expect: hint x + residual was not rounded first
s|row.rounds_sum ? rounded(row.t, x) : x|x|
