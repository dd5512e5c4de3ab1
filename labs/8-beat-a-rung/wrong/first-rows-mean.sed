# The mistake: the mean of the first row stands for all, since the rows of normal data are alike.
# expect: wrong every category
# expect: hint from row 1 on
s|const float per_c.*|&\n    float all = 0;|
s|const float mean = \(.*\);|if (r == 0) all = \1;\n        const float mean = all, error = 0;|
/const float error =/d
