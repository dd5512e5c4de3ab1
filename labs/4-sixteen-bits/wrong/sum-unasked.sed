# The mistake: the sum is stored wherever there is a residual, also where nobody asks for it.
# expect: wrong residual
# expect: hint NULL in this case: residual_out, scratch
s|if (row.residual_out)|if (row.residual)|
