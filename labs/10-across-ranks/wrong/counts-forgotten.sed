# Wrong: the mean of the two means, whatever the counts.
# expect: wrong every category but a rank without samples
# expect: hint right: rstd, running_var
s/d \* share : b.mean/d * 0.5f : b.mean/
