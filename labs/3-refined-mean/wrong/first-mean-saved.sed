# The mistake: y takes the corrected mean, but the first one is saved for backward.
# expect: wrong the saved mean
# expect: hint saved before its correction
s|nl_keep(row, m + c|nl_keep(row, m|
