# The mistake: NL_IMPL lacks .threaded. The kernel is never given more than one thread.
# expect: wrong the same bits
# expect: hint it is not .threaded
s|\.threaded = true,||
