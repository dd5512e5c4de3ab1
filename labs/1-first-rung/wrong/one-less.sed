# Wrong: divides by c - 1, as the sample variance does.
# expect: hint n - 1 instead of n
# expect: wrong every category
s|/ v.c|/ (v.c - 1)|
