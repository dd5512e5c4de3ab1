/* Families of mistakes with a number, such as a lane or a width; the subject decides which numbers
 * are sensible.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "judge/formula.h"

typedef struct mistake {
    char name[32], text[96];
    bool fitted; /* has a free number, which explains some of any error */
    formula formula;
} mistake;

enum { MISTAKES_MAX = 512 };

/* The list under construction. */
typedef struct mistake_list {
    const subject *s;
    formula right;
    mistake *out;
    size_t count;
} mistake_list;

/* Appends the right formula, for the caller to change. number: ends the name, unless it is 0. */
formula *mistake_add(mistake_list *l, const char *name, size_t number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

void families_begin(mistake_list *l); /* the simplest ones, which come first */
void families_add(mistake_list *l, workspace *w);
/* Adds the mistakes with a number that is read from the outputs, such as a limit or an order of
 * features. */
void observed_add(mistake_list *l);

/* Fits numbers that explain an error best. */

/* The eps that best explains the scale of each group of y: the median over the groups. Negative: no
 * fit. */
double fit_eps(workspace *w);

/* A constant factor of y or dx, and a constant offset, independently, by least squares. */
void fit_line(workspace *w, double *factor, double *offset);

/* The known mistakes, each one change of the right formula. */

/* Lists the mistakes that may concern the subject; returns their number. Overwrites w, the
 * subject's workspace. */
size_t mistakes_list(const subject *s, workspace *w, mistake out[MISTAKES_MAX]);
