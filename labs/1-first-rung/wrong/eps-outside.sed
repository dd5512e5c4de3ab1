# Wrong: eps is added to the root, not under it. It shows where x is small or eps is not.
# expect: hint eps outside the root
# expect: wrong eps
s|sqrtf(\(.*\) + v.eps)|(sqrtf(\1) + v.eps)|
