# The mistake: the first sum is of x itself, and loses digits in a long row far from zero.
# expect: wrong long rows
# expect: hint are inexact or incomplete
s|BLOCK = 64|BLOCK = 1 << 30|
s|first = nl_x(row, 0)|first = 0|
