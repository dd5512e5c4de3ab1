# Wrong: the gain of Qwen2RMSNorm, 1 + w, where RMSNorm has gamma.
# expect: hint a gain of 1 + gamma instead of gamma
# expect: wrong every category but arguments left out
s|nl_view row = .*|&\n        row.plus_one = true;|
