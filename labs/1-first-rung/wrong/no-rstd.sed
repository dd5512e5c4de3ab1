# Wrong: rstd is not saved, so that the backward pass would have none.
# expect: hint of rstd were never written
# expect: wrong rstd
/nl_keep/d
