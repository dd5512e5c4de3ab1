# Wrong: its own loads and stores leave out the residual, and read gamma even if that is NULL.
# expect: hint read through a NULL pointer
# expect: hint of residual_out were never written
# expect: wrong arguments left out
# expect: wrong in place and residual
# expect: wrong 16-bit storage
s|nl_x(row, |nl_load(v.t, row.x, |g
s|nl_put_y(row, i, \(.*\));|nl_store(v.t, row.y, i, \1 * v.gamma[i]);|
