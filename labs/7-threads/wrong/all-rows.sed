# The mistake: every thread does all rows; where x is overwritten, the next thread adds the residual again.
# expect: wrong four threads
# expect: hint rmsnorm/forward/f32/9x64/normal/residual/in-place/threads=4
s|nl_row(j->v, begin)|j->v|
s|v.n = end - begin|(void)begin, (void)end|
/ = share_row\|threads = 1;/d
