# Wrong: the sum is rounded to the storage type after each addition.
# expect: hint sums and squares in 16 bits
# expect: wrong 16-bit storage
s|\(s[0-3]\) += \(.*\);|\1 = nl_round(v.t, \1 + nl_round(v.t, \2));|
s|i + 4 <= v.c|i > v.c|
