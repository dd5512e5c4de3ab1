# Wrong: a rank without samples is not expected.
# expect: wrong a rank without samples
# expect: hint NaN instead of a number
s/a.n > 0 ? \(a.mean + d \* share\) : b.mean/\1/; s/own.n > 0 ? \(own.mean . own.n\) : 0/\1/
