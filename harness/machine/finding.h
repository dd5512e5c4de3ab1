/* A finding of the doctor. A value that cannot be read is unknown; the finding has the reason.
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
    const char *topic; /* one word; each examination has one finding per topic */
    finding_level level;
    char value[192];  /* numbers with their units; if unknown, the reason */
    char advice[256]; /* the advice, or "" */
} finding;
