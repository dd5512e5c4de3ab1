/* The museum: public reports of normalization layers gone wrong, as data that every rung has to face.
 * A kind of data is called museum:NAME. SPDX-License-Identifier: MIT */
#ifndef NL_MUSEUM_H
#define NL_MUSEUM_H

#include <stdbool.h>
#include <stddef.h>

enum { EXHIBIT_CASES = 3 };

typedef struct exhibit {
    const char *name;
    const char *report;                      /* "pytorch/pytorch#51102"; NULL: nobody's report */
    const char *data;                        /* what x is, in a few words */
    const char *wrong;                       /* what came of it there */
    const char *cases[EXHIBIT_CASES];        /* spellings, "*" standing for museum:NAME */
    double (*value)(size_t group, size_t e); /* x: element e of its row, or channel */
} exhibit;

size_t museum_count(void);
const exhibit *museum_at(size_t i);

/* "museum:NAME" to the exhibit; NULL when there is none of that name. */
const exhibit *museum_find(const char *data);

/* "pt51102, pt40302, ..." */
const char *museum_names(void);

/* Case number i of an exhibit as it is spelled, braces and all; false: it has no more. */
bool museum_spelling(const exhibit *e, size_t i, char *out, size_t size);

#endif
