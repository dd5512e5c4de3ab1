# Wrong: dx as if only the mean depended on x: the term of the variance is left out.
# expect: hint the term xhat * mean(g * xhat) was left out
# expect: wrong every category
s| - d \* slope||
