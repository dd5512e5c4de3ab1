/* An assignment: a text file with the parts of a task and their points (docs/grading.md).
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

enum { PARTS_MAX = 24, WORDS_MAX = 48 };

/* A kernel gets a category's points if it is right on all the cases. PART_BITS also requires the
 * same bits on any number of threads; PART_BATCH requires the same bits of a row in any batch. A
 * speed, a count or an error has one case. The points grow with the value's logarithm, from none at
 * `from` to all at `to`; for a speed or a count, in steps. */
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
    char from_rung[64], to_rung[64]; /* speed, count: ends of the scale; to_rung of a speed may be
                                        "limit" */
    double from, to;                 /* error: ends of the scale, in units */
    int steps;                       /* speed, count: number of steps of the scale */
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
    word_list forbidden; /* words that the source must not contain; nl_* is a stem */
    word_list allowed;   /* words allowed although a stem forbids them */
    char headers[600];   /* headers that the source may include; "": the usual headers */
    bool asks_method;    /* the kernel must promise `method` */
    nl_method method;
} assignment;

/* False: `error` names the line, its fault and the correct form. */
bool assignment_read(const char *path, assignment *out, char *error, size_t error_size);
/* Like assignment_read(), for a text; messages contain `name`. */
bool assignment_parse(const char *name, const char *text, assignment *out, char *error,
                      size_t error_size);
void assignment_free(assignment *a);
