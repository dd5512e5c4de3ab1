# Wrong: the second mistake alone, the last element of each row.
# expect: hint were never written
# expect: wrong every category
s|i < v.c; i++) nl_put_y|i + 1 < v.c; i++) nl_put_y|
