# Wrong: the first mistake alone, eps outside the root.
# expect: hint eps outside the root
# expect: wrong eps
s|sqrtf(\(.*\) + v.eps)|(sqrtf(\1) + v.eps)|
