# Wrong: 1 / v.c divides integers, and is 0 where a row has more than one element.
# expect: hint is 1 / c a division of integers?
# expect: wrong every category
s|sqrtf(\(.*\) / v.c|sqrtf(1 / v.c * \1|
