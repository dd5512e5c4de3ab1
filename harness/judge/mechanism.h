/* Finds why somebody's outputs are wrong: makes each known mistake on purpose; the one whose
 * outputs come nearest is the likely mechanism. SPDX-License-Identifier: MIT */
#pragma once

#include "judge/formula.h"
#include "judge/subject.h"

/* A known mistake: one change of the right formula. */
typedef struct mistake {
    char name[32], text[96];
    bool fitted; /* has a free number, which explains some of any error */
    formula formula;
} mistake;

enum { MISTAKES_MAX = 512 };

typedef struct mistake_list {
    const subject *s;
    formula right;
    mistake *out;
    size_t count;
} mistake_list;

/* Appends the right formula, for the caller to change. number: ends the name, unless it is 0. */
formula *mistake_add(mistake_list *l, const char *name, size_t number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Families of mistakes with a number, such as a lane or a width; the subject decides which numbers
 * are sensible. The first adds the simplest ones. */
void families_begin(mistake_list *l);
void families_add(mistake_list *l, workspace *w);

/* Adds the mistakes with a number that is read from the outputs, such as a limit or an order of
 * features. */
void observed_add(mistake_list *l);

/* The eps that best explains the scale of each group of y: the median over the groups. Negative: no
 * fit. */
double fit_eps(workspace *w);

/* A constant factor of y or dx, and a constant offset, independently, by least squares. */
void fit_line(workspace *w, double *factor, double *offset);

/* Lists the mistakes that may concern the subject; returns their number. Overwrites w, the
 * subject's workspace. */
size_t mistakes_list(const subject *s, workspace *w, mistake out[MISTAKES_MAX]);

typedef struct hypothesis {
    char name[32], text[96];
    int order;      /* in the list of mistakes: the simpler ones first */
    bool fitted;    /* has a free number, which explains some of any error */
    double removes; /* share of the rms error; 1: all; below 0: it makes the error larger */
    mismatch left;
    bool explains; /* removes MECHANISM_ENOUGH, or gives half of the wrong numbers; adds no NaN */
    bool wholly;   /* explains, and leaves no more than rounding may cost */
} hypothesis;

#define MECHANISM_ENOUGH 0.8
#define MECHANISM_PARTLY 0.6 /* if nothing explains more */
/* A mistake in rounding to 16 bits makes a small error. So a formula that leaves at most this rms,
 * where most numbers equal its own bit for bit, needs to remove only half of the error. */
#define MECHANISM_EQUAL 0.25
/* Any float LayerNorm makes errors up to this; they need no explanation. */
#define MECHANISM_FEW_UNITS 8.0

enum { HYPOTHESES_MAX = MISTAKES_MAX };

#define ONLY_THERE "only there: "

/* The hypotheses tried, best first; among equals, fitted ones last. */
typedef struct mechanism {
    hypothesis found[HYPOTHESES_MAX];
    size_t count, likely; /* likely: how many of the first fit equally well */
    size_t untried;       /* mistakes that the subject's `most` left no room for */
    const char *prefix;   /* "only there: " if tested in the wrong region; words for the output if
                           tested in one output; else "" */
} mechanism;

/* Gets the progress of a long search; or NULL. */
extern void (*mechanism_progress)(size_t done, size_t total, const char *what);

/* Tests every mistake that may concern the subject and changes its outputs. If no mistake explains
 * the whole error and wrong is not NULL, tests again in the wrong region only, then in its output
 * only. False: out of memory. */
bool mechanism_find(const subject *s, const region *wrong, mechanism *out);

/* "A", or "either A, or B (these data cannot tell)"; empty if nothing is likely. */
void mechanism_text(const mechanism *m, char *text, size_t size);

/* Errors that no formula explains come from rounding. Their pattern along a row and their growth
 * with kappa show which step rounded. */

/* Splits the errors within each group into a constant, a part proportional to xhat, and the rest,
 * as shares of the energy over all groups. Counts groups with finite errors; rest[] gets the rms of
 * each group's rest, in units. Needs y. */
typedef struct pattern {
    double offset, scale, rest;
    double shrinking; /* of the groups that clearly have a factor, the share with one below 1; 0:
                         fewer than 8 such groups */
    double steepest;  /* the largest factor of a group, less 1 */
    double rest_rms;  /* of all groups, units */
    size_t groups;
} pattern;
pattern growth_pattern(const subject *s, double *rest);

/* Fits a line to log(error) against log(kappa), over the groups with 2 units or more. decides:
 * enough groups, over a large enough range of kappa, lie near the line. */
typedef struct growth {
    double slope, half_width; /* of its 95 % interval */
    double correlation, low, high;
    double log_kappa, log_error; /* means of groups: a point of the line */
    size_t groups;
    bool decides;
} growth;
growth growth_fit(const double *kappa, const double *error, size_t groups);

/* Is an error at most eight times the line's value? */
bool growth_foretells(const growth *g, double kappa, double error);

/* A mechanism that one kappa is enough to show; or NULL. error: the rms of each group, in units. */
const char *growth_at_one_kappa(const subject *s, const double *kappa, const double *error,
                                const pattern *p);

/* The mechanism that fits the pattern, and the growth of the error and of its rest; or NULL. */
const char *growth_mechanism(const subject *s, const growth *all, const growth *rest,
                             const pattern *p);
