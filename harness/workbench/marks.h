/* The points of a submission, and the files that autograders read. SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { MARKS_MAX = 32 };

typedef struct mark {
    char name[100];
    double points, most;
    bool right;
    char text[1400]; /* the findings, on several lines */
} mark;

typedef struct marks {
    const char *title, *file;
    mark all[MARKS_MAX];
    size_t count;
} marks;

double marks_points(const marks *m);
double marks_most(const marks *m);

/* Gradescope's results.json (https://gradescope-autograders.readthedocs.io/en/latest/specs/), and
 * JUnit's XML for CI services. */
void marks_gradescope(const marks *m, FILE *out);
void marks_junit(const marks *m, FILE *out);
