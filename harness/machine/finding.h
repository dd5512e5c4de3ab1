/* A finding of the doctor. What cannot be read is unknown, with the reason.
 * SPDX-License-Identifier: MIT */
#pragma once

typedef enum finding_level {
    FINDING_GOOD,
    FINDING_NOTE,
    FINDING_BAD,
    FINDING_UNKNOWN,
    FINDING_LEVELS
} finding_level;

typedef struct finding {
    const char *topic; /* one word; every examination has every topic once */
    finding_level level;
    char value[192];  /* numbers with their units; if unknown, the reason */
    char advice[256]; /* what to do, or "" */
} finding;
