# The mistake: y and the saved mean are corrected, the variance is not. It stays the mean square
# around m, which is larger than the variance by c^2.
# expect: wrong the variance far from zero
# expect: hint squares around a mean that is a little off
s|(s.squares - c \* s.d)|s.squares|
