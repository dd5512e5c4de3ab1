# Wrong: dgamma and dbeta are added to what the caller's memory held.
# expect: hint were added to, not overwritten
# expect: wrong dgamma and dbeta
# expect: wrong in place
/nl_clear_gradients/d
