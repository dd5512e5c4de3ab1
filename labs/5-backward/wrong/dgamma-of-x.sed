# Wrong: dgamma sums dy * (x - mean), which is not xhat.
# expect: points 60..60
# expect: hint dgamma sums dy * (x - mean), not multiplied by rstd
# expect: wrong dgamma and dbeta
# expect: wrong in place
s|(d \* rstd)|d|
