# The mistake: one reading around the row's first element, also where it is an outlier.
# expect: wrong uneven data
# expect: hint layernorm/forward/f32/9x64/museum:outlier-first
s|first = nl_x(row, 0)|&, error = 0|
/const float mean =/d
s|sum_around(row, mean|sum_around(row, first|
s|error = s.d \* per_c;.*|shifted = s.d * per_c, mean = first + shifted;|
s|error \* error|shifted * shifted|
s|NL_REFINED|NL_TWO_PASS|
