# The mistake: pieces are counted by a division that rounds down. What is left of a shared row is
# not written, and not in its sum.
# expect: wrong four threads
# expect: wrong the same bits
# expect: hint never written
s|return (c + PIECE - 1) / PIECE|return c < PIECE ? 1 : c / PIECE|
