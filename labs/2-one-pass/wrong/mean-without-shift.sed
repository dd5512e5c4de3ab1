# Wrong: the mean of x - x_0 is saved as the mean of x. y is right.
# expect: hint the mean of x - x[0] was saved
# expect: wrong the saved mean and rstd
s|nl_keep(row, shift + c|nl_keep(row, c|
