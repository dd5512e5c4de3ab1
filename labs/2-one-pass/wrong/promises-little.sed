# Wrong: E[x^2] - mean^2, declared as such: NL_ONE_PASS has no bound far from 0.
# expect: hint the kernel's method has no bound here
# expect: wrong rows of one value
# expect: wrong a mean far from zero
s|shift = nl_x(row, 0)|shift = 0|
s|NL_SHIFTED|NL_ONE_PASS|
