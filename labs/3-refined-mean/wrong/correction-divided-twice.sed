# The mistake: c is divided by the length of the row once more where it is used.
# expect: wrong a mean far from zero
# expect: wrong the variance far from zero
# expect: wrong long rows
# expect: hint the mean rounded to a float
s|- m - c)|- m - c / v.c)|
