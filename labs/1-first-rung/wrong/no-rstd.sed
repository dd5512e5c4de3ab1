# Wrong: rstd is not saved, so that the backward pass would have none.
# expect: points 70..70
# expect: hint of rstd were never written
# expect: wrong rstd
/nl_keep/d
