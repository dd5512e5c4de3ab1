/* SPDX-License-Identifier: MIT */
#include "claims/claim_answer.h"

#include <math.h>

const char *claim_outcome_name(claim_outcome o) {
    static const char *const names[CLAIM_OUTCOMES] = {"as claimed",    "more",
                                                      "less",          "the other way round",
                                                      "no difference", "not resolved",
                                                      "not run"};
    return names[o];
}

const char *claim_answer_name(claim_answer a) {
    static const char *const names[CLAIM_ANSWERS] = {"HOLDS",        "FAILS",   "DEPENDS",
                                                     "NOT RESOLVED", "NOT RUN", "FIRST LOOK"};
    return names[a];
}

/* -1: below the claimed range; 0: in it; 1: above. */
static int side_of(const claim *c, const setting *s) {
    const predicate *p = &c->expected;
    double same = c->q->same;
    bool one = p->low == p->high;
    if (s->verdict == SUPPORTED) return 0;
    if (s->verdict == REFUTED) return s->f.wide.low >= p->high ? 1 : -1;
    if (one ? s->f.wide.low >= p->low - c->margin && s->f.wide.high <= p->high + c->margin
            : p->low < same && same < p->high)
        return 0;
    return same <= p->low ? -1 : 1;
}

claim_outcome claim_outcome_of(const claim *c, const setting *s) {
    const predicate *p = &c->expected;
    double same = c->q->same;
    if (!s->measured) return NOT_RUN;
    if (s->verdict == UNRESOLVED) return OPEN;
    int side = side_of(c, s);
    if (side == 0) return AS_CLAIMED;
    if (s->verdict == EQUAL) return NO_DIFFERENCE;
    const bool above = p->low >= same && p->high > same, below = p->high <= same && p->low < same;
    if (isnan(same)) return side > 0 ? MORE : LESS;
    if (!above && !below) return MORE; /* than about no difference */
    if (above == (side > 0)) return MORE;
    return (above ? s->f.wide.high <= same : s->f.wide.low >= same) ? OTHER_WAY : LESS;
}

/* Was it timed too seldom for an answer? */
static bool first_look(const setting *s) {
    return s->measured && s->passes && s->passes < PASSES_ENOUGH;
}

claim_answer claim_answer_of(const claim *c) {
    unsigned sides = 0;
    bool open = false;
    if (first_look(&c->at[0])) return FIRST_LOOK;
    for (size_t i = 0; i < c->settings; i++)
        if (claim_outcome_of(c, &c->at[i]) == OPEN)
            open = open || !claim_is_elsewhere(&c->at[i]);
        else if (!first_look(&c->at[i]) && claim_outcome_of(c, &c->at[i]) < OPEN)
            sides |= 1u << (side_of(c, &c->at[i]) + 1);
    claim_outcome first = claim_outcome_of(c, &c->at[0]);
    if (sides & (sides - 1)) return DEPENDS;
    if (first == NOT_RUN) return UNTRIED;
    if (first == OPEN || open) return UNDECIDED; /* more passes could make it DEPENDS */
    return first == AS_CLAIMED ? HOLDS : FAILS;
}
