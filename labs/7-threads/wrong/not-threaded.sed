# The mistake: NL_IMPL lacks .threaded. The kernel is never given more than one thread.
# expect: wrong the same bits
# expect: hint the kernel is not .threaded
s|\.threaded = true,||
