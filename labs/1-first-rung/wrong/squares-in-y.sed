# Wrong: keeps the squares in y: in place they overwrite x, and in 16 bits they are rounded.
# expect: hint an input was overwritten before it was last read
# expect: wrong 16-bit storage
# expect: wrong in place and residual
s|size_t i = 0;|&\n        for (; i < v.c; i++) nl_store(v.t, row.y, i, nl_x(row, i) * nl_x(row, i));\n        i = 0;|
s|\(s[0-3] +=\) nl_x(row, \([^)]*\)).*;|\1 nl_load(v.t, row.y, \2);|
