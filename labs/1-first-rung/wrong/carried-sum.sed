# Wrong: the sum is set to 0 before the first row only.
# expect: hint the sums went on from group to group
# expect: wrong every category
/^        float s0/d
s|^NL_INLINE.*|&\n    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;|
