# The mistake: c is added to m before m is subtracted: m + c is rounded to m again.
# expect: wrong a mean far from zero
# expect: wrong the variance far from zero
# expect: wrong long rows
# expect: hint the mean rounded to a float
s|- m - c)|- (m + c))|
