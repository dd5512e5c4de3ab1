/* Two sums along a row, of v and of v * d, in blocks: no value goes through many additions to a sum
 * that is large beside it. SPDX-License-Identifier: MIT */
#pragma once

#include "vec.h"

/* Forward, v is d = x - m; backward it is gain * dy. */
typedef struct sums {
    vf v, vd;
} sums;

/* Four vectors of each sum, each with a name: compilers spill an array of them. */
typedef struct four_sums {
    sums a, b, c, d;
} four_sums;

/* The sums of earlier blocks: of this group of eight, and of the groups before. */
typedef struct earlier {
    sums group, groups;
} earlier;

NL_INLINE sums no_sums(void) {
    return (sums){vset(0), vset(0)};
}

NL_INLINE four_sums no_four_sums(void) {
    return (four_sums){no_sums(), no_sums(), no_sums(), no_sums()};
}

NL_INLINE earlier no_earlier(void) {
    return (earlier){no_sums(), no_sums()};
}

NL_INLINE sums both(sums s, sums t) {
    return (sums){s.v + t.v, s.vd + t.vd};
}

NL_INLINE sums all_four(four_sums s) {
    return both(both(s.a, s.c), both(s.b, s.d));
}

/* Adds a block, which ends after `done` elements, to those before. */
NL_INLINE void join(earlier *before, sums block, size_t done) {
    before->group = both(before->group, block);
    if (done % (8 * SUM_BLOCK) != 0) return;
    before->groups = both(before->groups, before->group);
    before->group = no_sums();
}

/* The same for sums that begin a new block. */
NL_INLINE void end_block(earlier *before, four_sums *block, size_t done) {
    join(before, all_four(*block), done);
    *block = no_four_sums();
}

/* The last block's sums with those of all before, of so many elements. */
NL_INLINE sums with_earlier(sums block, earlier before, size_t elements) {
    if (elements <= SUM_BLOCK) return block;
    return both(both(block, before.group), before.groups);
}
