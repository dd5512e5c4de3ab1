# The mistake: a shared row has one sum per thread: right, but its bits depend on the number of threads.
# expect: wrong the same bits
# expect: hint the order of a sum depends on the number of threads
/^static void some_sums/,/^}/{
s|^    for.*|    const job *j = context;\n& j->sums[i] = 0;|
s|^ *nl_with_dtype.*|    j->sums[begin] = sum_piece(j->v, begin * PIECE, end_of(end - 1, j->v.c));|
}
