# The mistake: one reading for both sums, and var = E[x^2] - mean^2.
# expect: wrong uneven data
# expect: hint one-pass
/const float first =\|const float mean =/d
s|sum_around(row, mean|sum_around(row, 0|
s|error = s.d \* per_c;.*|mean = s.d * per_c, error = 0;|
s|error \* error|mean * mean|
s|NL_REFINED|NL_TWO_PASS|
