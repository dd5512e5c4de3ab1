# The mistake: the first sum is of x itself. In a long row far from zero it becomes so large that
# each x is rounded to multiples of 256 when it is added, and m lies many sigma away from the
# mean. Then the second pass loses digits as a one-pass does.
# expect: wrong long rows
# expect: hint lose digits, or elements
s|BLOCK = 64|BLOCK = 1 << 30|
s|first = nl_x(row, 0)|first = 0|
