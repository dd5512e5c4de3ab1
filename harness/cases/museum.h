/* The museum: the data of public bug reports about normalization layers, on which every rung is
 * checked. The kind of data is museum:NAME. SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { EXHIBIT_CASES = 3 };

typedef struct exhibit {
    const char *name;
    const char *report;                      /* "pytorch/pytorch#51102"; NULL: no report */
    const char *data;                        /* describes x in a few words */
    const char *wrong;                       /* the wrong result in the report */
    const char *cases[EXHIBIT_CASES];        /* spellings, in which "*" stands for museum:NAME */
    double (*value)(size_t group, size_t e); /* element e of x in a row or channel */
} exhibit;

size_t museum_count(void);
const exhibit *museum_at(size_t i);

/* Returns the exhibit of "museum:NAME", or NULL if no exhibit has that name. */
const exhibit *museum_find(const char *data);

/* "pt51102, pt40302, ..." */
const char *museum_names(void);

/* Gets spelling i of the exhibit's cases, with its braces. False: there is no spelling i. */
bool museum_spelling(const exhibit *e, size_t i, char *out, size_t size);
