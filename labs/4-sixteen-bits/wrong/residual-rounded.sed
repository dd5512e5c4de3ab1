# The mistake: x + residual is rounded, as it is stored, before it is normalized.
# expect: wrong residual
# expect: hint x + residual was rounded to f16
s|? \(x + load(row.t, row.residual, i)\)|? rounded(row.t, \1)|
