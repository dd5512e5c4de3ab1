# Wrong: dgamma sums dy * (x - mean), which is not xhat.
# expect: hint dgamma sums dy * (x - mean), not multiplied by rstd
# expect: wrong dgamma and dbeta
# expect: wrong in place
s|(d \* rstd)|d|
