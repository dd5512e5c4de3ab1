# Wrong: the mean of the two means, whatever the counts.
# expect: points 20..20
# expect: wrong three samples and more
# expect: wrong means that differ
# expect: wrong channels of one value, and types
# expect: hint right: rstd, running_var
s/d \* share : b.mean/d * 0.5f : b.mean/
