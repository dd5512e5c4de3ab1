# Wrong: 1e-5 for the problem's eps.
# expect: hint eps = 1e-5
# expect: wrong eps
s|v\.eps|1e-5f|
