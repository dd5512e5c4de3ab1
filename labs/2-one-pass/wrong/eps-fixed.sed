# Wrong: the usual eps, whatever the call asks for.
# expect: wrong the formula
# expect: hint eps = 1e-5
s|v\.eps|1e-5f|
