# Wrong: dx is stored first and dgamma summed after it: in place dy is gone by then.
# expect: hint an input was overwritten before it was last read
# expect: wrong in place
s|float dy = .*, d = |float d = |
s|nl_put_dx.*|&\n        }\n        for (size_t i = 0; i < v.c; i++) {\n            float dy = nl_load(v.t, row.dy, i), d = nl_load(v.t, row.x, i) - mean;|
