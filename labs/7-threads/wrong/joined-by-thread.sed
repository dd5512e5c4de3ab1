# The mistake: one thread adds each thread's pieces first, and then the sums of the threads.
# expect: wrong the same bits
# expect: hint the order of a sum depends on the number of threads
s|^    for (size_t i = 0; i < pieces; i++) sum += j->sums.i.;|    for (size_t t = 0, i = 0; t < (size_t)threads; t++) {\
        float own = 0;\
        for (; i < pieces * (t + 1) / (size_t)threads; i++) own += j->sums[i];\
        sum += own;\
    }|
