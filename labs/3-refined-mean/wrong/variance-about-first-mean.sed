# The mistake: the variance is not corrected: it stays the mean square around m, larger by c^2.
# expect: wrong the variance far from zero
# expect: hint squares around a mean that is a little off
s|(s.squares - c \* s.d)|s.squares|
