/* One thing that the doctor found. What cannot be read is unknown, with the reason.
 * SPDX-License-Identifier: MIT */
#ifndef NL_FINDING_H
#define NL_FINDING_H

typedef enum finding_level {
    FINDING_GOOD,
    FINDING_NOTE,
    FINDING_BAD,
    FINDING_UNKNOWN,
    FINDING_LEVELS
} finding_level;

typedef struct finding {
    const char *topic; /* one word; every topic is in every examination, once */
    finding_level level;
    char value[128];  /* numbers with their units; for unknown: why */
    char advice[256]; /* what to do; empty when there is nothing to do */
} finding;

#endif
