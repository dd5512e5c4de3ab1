/* An assignment: a text file with the parts of a task and their points (docs/grading.md).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

enum { PARTS_MAX = 24, WORDS_MAX = 48 };

/* A category is right on all its cases or not. PART_BITS also requires the same bits on any number
 * of threads, PART_BATCH the same bits of a row in any batch.
 * A speed, a count or an error has one case; its points follow the logarithm, from none at `from` to
 * all at `to`, for a speed and a count in steps. */
typedef struct part {
    enum {
        PART_CATEGORY,
        PART_BITS,
        PART_BATCH,
        PART_ERROR,
        PART_COUNT,
        PART_SPEED,
        PART_KINDS
    } kind;
    char name[80];
    double points;
    case_list cases;
    char from_rung[64], to_rung[64]; /* of a speed or count; "limit": only to_rung of a speed */
    double from, to;                 /* of an error: units */
    int steps;                       /* of a speed or count */
} part;

/* Words of C. */
typedef struct word_list {
    char words[WORDS_MAX][64];
    size_t count;
} word_list;

bool word_list_has(const word_list *list, const char *word);

typedef struct assignment {
    char title[100];
    part parts[PARTS_MAX];
    size_t count;
    word_list forbidden; /* words that the source must not have; nl_* is a stem */
    word_list allowed;   /* words allowed although a stem forbids them */
    char headers[600];   /* that it may include; "": the usual ones */
    bool asks_method;    /* the kernel must promise `method` */
    nl_method method;
} assignment;

/* False: error names the line, what is wrong with it and what it should be. */
bool assignment_read(const char *path, assignment *out, char *error, size_t error_size);
/* Like assignment_read(), for a text; name: for the error. */
bool assignment_parse(const char *name, const char *text, assignment *out, char *error,
                      size_t error_size);
void assignment_free(assignment *a);
