# Wrong: the second mistake alone, the last element of each row.
# expect: points 0..0
# expect: hint were never written
# expect: wrong small rows
# expect: wrong every width
# expect: wrong eps
s|i < v.c; i++) nl_put_y|i + 1 < v.c; i++) nl_put_y|
