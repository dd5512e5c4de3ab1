# Wrong: dgamma and dbeta are added to what the caller's memory held.
# expect: hint was added to what was there before the call
# expect: wrong dgamma and dbeta
# expect: wrong in place
/nl_clear_gradients/d
