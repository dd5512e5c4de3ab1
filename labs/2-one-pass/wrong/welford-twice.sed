# Wrong: Welford's squares take the difference from the old mean twice.
# expect: hint right: mean
# expect: wrong every category but rows of one value
s|shift = nl_x(row, 0), sum = 0|mean = 0|
s|- shift;|- mean;|
s|sum += d|mean += d / (i + 1)|
/float c = /d
s|squares / v.c - c \* c|squares / v.c|
s|- shift - c|- mean|
s|shift + c|mean|
s|NL_SHIFTED|NL_WELFORD|
