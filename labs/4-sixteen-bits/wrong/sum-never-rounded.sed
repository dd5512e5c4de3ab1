# The mistake: the sum is normalized unrounded, even if the caller sets rounds_sum.
# expect: wrong residual
# expect: hint x + residual was not rounded first
s|row.rounds_sum ? rounded(row.t, x) : x|x|
