/* Two sums along a row, of v and of v * d. Blocks of a row are summed separately, so that few
 * terms are added to a much larger sum. SPDX-License-Identifier: MIT */
#pragma once

#include "vec/vec.h"

/* In forward v is d = x - m. In backward v is gain * dy, and d is xhat. */
typedef struct sums {
    vf v, vd;
} sums;

/* Four vectors of each sum, as separate variables, because compilers spill an array. */
typedef struct four_sums {
    sums a, b, c, d;
} four_sums;

/* The sums of earlier blocks: of the current group of eight blocks, and of earlier groups. */
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

/* Adds a block that ends after `done` elements to the earlier blocks. */
NL_INLINE void join(earlier *before, sums block, size_t done) {
    before->group = both(before->group, block);
    if (done % (8 * SUM_BLOCK) != 0) return;
    before->groups = both(before->groups, before->group);
    before->group = no_sums();
}

NL_INLINE void end_block(earlier *before, four_sums *block, size_t done) {
    join(before, all_four(*block), done);
    *block = no_four_sums();
}

/* Adds the earlier blocks to the last block, if `elements` exceed one block. */
NL_INLINE sums with_earlier(sums block, earlier before, size_t elements) {
    if (elements <= SUM_BLOCK) return block;
    return both(both(block, before.group), before.groups);
}
