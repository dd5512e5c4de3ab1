# Wrong: 1e-5 for the problem's eps.
# expect: points 70..70
# expect: hint eps = 1e-5
# expect: wrong eps
s|v\.eps|1e-5f|
