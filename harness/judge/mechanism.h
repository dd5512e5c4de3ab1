/* Finds why outputs are wrong: makes each known mistake on purpose. The mistake whose outputs come
 * nearest is the likely mechanism. SPDX-License-Identifier: MIT */
#pragma once

#include "judge/formula.h"
#include "judge/subject.h"

/* A known mistake: one change of the right formula. */
typedef struct mistake {
    char name[32], text[96];
    bool fitted; /* has a fitted number, which reduces any error */
    formula formula;
} mistake;

enum { MISTAKES_MAX = 512 };

typedef struct mistake_list {
    const subject *s;
    formula right;
    mistake *out;
    size_t count;
} mistake_list;

/* Appends the right formula, which the caller then changes. number: ends the name, unless 0. */
formula *mistake_add(mistake_list *l, const char *name, size_t number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Add families of mistakes with a number, such as a lane or a width; the subject decides which
 * numbers make sense. families_begin() adds the simplest mistakes. */
void families_begin(mistake_list *l);
void families_add(mistake_list *l, workspace *w);

/* Adds the mistakes with a number that is read from the outputs, such as a limit. */
void observed_add(mistake_list *l);

/* Finds each group's eps that best explains the group's scale; returns their median. Negative: no
 * fit. */
double fit_eps(workspace *w);

/* Fits a constant factor of y or dx by least squares. Fits a constant offset, independently. */
void fit_line(workspace *w, double *factor, double *offset);

/* Lists the mistakes that may concern the subject; returns their number. Overwrites w, the
 * subject's workspace. */
size_t mistakes_list(const subject *s, workspace *w, mistake out[MISTAKES_MAX]);

typedef struct hypothesis {
    char name[32], text[96];
    int order;      /* index in the list of mistakes, in which simpler mistakes come first */
    bool fitted;    /* has a fitted number, which reduces any error */
    double removes; /* share of the rms error that the mistake removes; below 0: the error grows */
    mismatch left;
    bool explains; /* removes MECHANISM_ENOUGH, or reproduces three quarters of the wrong
                    * numbers; adds no NaN */
    bool wholly;   /* explains, and leaves no more than rounding may cost */
} hypothesis;

#define MECHANISM_ENOUGH 0.8
#define MECHANISM_PARTLY 0.6 /* enough if nothing explains more */
/* A mistake in rounding to 16 bits makes a small error. So a formula needs to remove only half of
 * the error if it leaves at most this rms and reproduces most numbers bit for bit. */
#define MECHANISM_EQUAL 0.25
/* Any float LayerNorm makes errors of this size, which need no explanation. */
#define MECHANISM_FEW_UNITS 8.0

enum { HYPOTHESES_MAX = MISTAKES_MAX };

#define ONLY_THERE "only there: "

/* The tested hypotheses: first the likely ones, the simplest first; then the others, best first. */
typedef struct mechanism {
    hypothesis found[HYPOTHESES_MAX];
    size_t count, likely; /* likely: number of first hypotheses that fit equally well */
    size_t untried;       /* mistakes not tested because of the subject's `most` */
    const char *prefix;   /* "only there: " if tested only where numbers are wrong, "in this
                           output: " if tested only in one output; else "" */
} mechanism;

/* A callback for the progress of a long search, or NULL. */
extern void (*mechanism_progress)(size_t done, size_t total, const char *what);

/* Tests every mistake that may concern the subject and changes its outputs. If no mistake explains
 * the whole error and wrong is not NULL, tests again only in this region of wrong numbers, then
 * only in the region's output. False: out of memory. */
bool mechanism_find(const subject *s, const region *wrong, mechanism *out);

/* Appends "A", or "either A, or B (these data cannot tell)", or nothing if no mistake is likely. */
void mechanism_text(const mechanism *m, char *text, size_t size);

/* Errors that no formula explains come from rounding. Their pattern along a row and their growth
 * with kappa show which step rounded. */

/* Splits the errors within each group into a constant, a part proportional to xhat, and the rest,
 * as shares of the energy over all groups. Counts the groups with finite errors. rest[g]: rms of
 * group g's rest, in units. Needs y. */
typedef struct pattern {
    double offset, scale, rest;
    double shrinking; /* share of factors below 1 among the groups with a clear factor; 0: fewer
                         than 8 such groups */
    double steepest;  /* the largest |factor - 1| of a group */
    double rest_rms;  /* rms of the rest over all groups, in units */
    size_t groups;
} pattern;
pattern growth_pattern(const subject *s, double *rest);

/* Fits a line to log(error) against log(kappa), over the groups with 2 units or more. decides:
 * enough groups, over a large enough range of kappa, lie near the line. */
typedef struct growth {
    double slope, half_width; /* half the width of the slope's 95 % interval */
    double correlation, low, high;
    double log_kappa, log_error; /* means over the groups: a point on the line */
    size_t groups;
    bool decides;
} growth;
growth growth_fit(const double *kappa, const double *error, size_t groups);

/* Is an error at most eight times the line's value? */
bool growth_foretells(const growth *g, double kappa, double error);

/* Returns a mechanism that a single kappa shows, or NULL. error: each group's rms, in units. */
const char *growth_at_one_kappa(const subject *s, const double *kappa, const double *error,
                                const pattern *p);

/* Returns the mechanism that fits the pattern and growth of the error and the rest, or NULL. */
const char *growth_mechanism(const subject *s, const growth *all, const growth *rest,
                             const pattern *p);
