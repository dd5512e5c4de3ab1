/* Two sums along a row, of v and of v * d, in blocks: no value goes through many additions to a sum
 * that is large beside it. SPDX-License-Identifier: MIT */
#ifndef NL_ROW_SUMS_H
#define NL_ROW_SUMS_H

#include "vec.h"

/* Forward, v is d = x - m; backward it is gain * dy. */
typedef struct sums {
    vf v, vd;
} sums;

/* Four vectors of each sum, each with a name: compilers spill an array of them. */
typedef struct four_sums {
    sums a, b, c, d;
} four_sums;

/* The sums of earlier blocks, of this group of blocks and of the groups before, where there are more
 * elements than a block has. */
typedef struct earlier {
    size_t elements;
    four_sums group, groups;
} earlier;

NL_INLINE sums no_sums(void) {
    return (sums){vset(0), vset(0)};
}

NL_INLINE four_sums no_four_sums(void) {
    return (four_sums){no_sums(), no_sums(), no_sums(), no_sums()};
}

NL_INLINE sums both(sums s, sums t) {
    return (sums){s.v + t.v, s.vd + t.vd};
}

NL_INLINE four_sums both_of_four(four_sums s, four_sums t) {
    return (four_sums){both(s.a, t.a), both(s.b, t.b), both(s.c, t.c), both(s.d, t.d)};
}

NL_INLINE earlier nothing_before(size_t elements) {
    earlier before;
    before.elements = elements;
    if (elements > SUM_BLOCK) before.group = before.groups = no_four_sums();
    return before;
}

/* Before the step that follows `done` elements: where these end a block, its sums join its group's,
 * and where they end a group, this joins those before. */
NL_INLINE void begin_step(four_sums *s, earlier *before, size_t done) {
    if (before->elements <= SUM_BLOCK || done == 0 || done % SUM_BLOCK != 0) return;
    before->group = both_of_four(before->group, *s);
    *s = no_four_sums();
    if (done % (8 * SUM_BLOCK) != 0) return;
    before->groups = both_of_four(before->groups, before->group);
    before->group = no_four_sums();
}

/* After the last step: s with all blocks before. */
NL_INLINE four_sums end_steps(four_sums s, const earlier *before) {
    if (before->elements > SUM_BLOCK)
        s = both_of_four(both_of_four(s, before->group), before->groups);
    return s;
}

NL_INLINE sums total_sums(four_sums s) {
    return (sums){(s.a.v + s.c.v) + (s.b.v + s.d.v), (s.a.vd + s.c.vd) + (s.b.vd + s.d.vd)};
}

#endif
