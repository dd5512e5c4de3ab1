# Wrong: dx as if mean and rstd did not depend on x: both means are left out.
# expect: hint dx as if mean and rstd were constant
# expect: wrong every category
s|nl_put_dx(.*|nl_put_dx(row, i, rstd * nl_g(row, i));|
