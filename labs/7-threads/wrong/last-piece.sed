# The mistake: pieces are counted by a division that rounds down: the last piece is left out.
# expect: wrong four threads
# expect: wrong the same bits
# expect: hint never written
s|return (c + PIECE - 1) / PIECE|return c < PIECE ? 1 : c / PIECE|
