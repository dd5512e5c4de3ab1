# Wrong: good statistics, but y = x * rstd - mean * rstd subtracts two large numbers.
# expect: hint the mean folded into the output, x * rstd - mean * rstd
# expect: wrong a mean far from zero
s|(nl_x(row, i) - shift - c) \* rstd|nl_x(row, i) * rstd - (shift + c) * rstd|
