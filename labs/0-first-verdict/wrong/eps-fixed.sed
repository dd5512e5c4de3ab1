# Wrong: eps mended with a number, which is right for the default alone.
# expect: hint eps = 1e-5
# expect: wrong eps
s|v\.eps|1e-5f|
