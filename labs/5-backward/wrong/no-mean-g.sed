# Wrong: the formula of RMSNorm: the term mean(g) is left out.
# expect: hint the term mean(g) was left out
# expect: wrong every category
s| - mean_g||
