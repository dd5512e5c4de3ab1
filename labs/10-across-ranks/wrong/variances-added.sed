# Wrong: the sums of squares are added, and the distance of the means is forgotten.
# expect: points 20..20
# expect: wrong three samples and more
# expect: wrong means that differ
# expect: wrong channels of one value, and types
# expect: hint right: mean, running_mean
s/ + (a.n > 0 ? d \* d \* a.n \* share : 0)//
