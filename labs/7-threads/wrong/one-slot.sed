# The mistake: all pieces of a shared row leave their sum in the same place.
# expect: wrong four threads
# expect: wrong the same bits
# expect: hint rmsnorm/forward/f32/1x20000/normal/threads=4
s|sums\[p->i\] =|sums[0] =|
s|+= j->sums\[i\]|+= j->sums[0]|
