# The mistake: the lanes that are not real hold 0 - mean, and their squares are added to the variance.
# expect: wrong every category but whole vectors
# expect: hint lanes that are not real
s|vkeep(\(.*\), k);|\1;|
