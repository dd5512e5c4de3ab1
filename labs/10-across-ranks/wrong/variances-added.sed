# Wrong: the sums of squares are added, and the distance of the means is forgotten.
# expect: wrong every category but a rank without samples
# expect: hint right: mean, running_mean
s/ + (a.n > 0 ? d \* d \* a.n \* share : 0)//
