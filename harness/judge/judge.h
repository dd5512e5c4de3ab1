/* Compares the outputs of any program with the reference, within the bound of a two-pass kernel,
 * and finds the likely mechanism of the errors. SPDX-License-Identifier: MIT */
#pragma once

#include "base/npy.h"
#include "judge/mechanism.h"
#include "judge/subject.h"

#include <stdio.h>

/* The outputs to judge: y, or in backward dx. p.dtype is the type that y or dx was rounded to. */
typedef struct submission {
    nl_problem p;
    const npy *array
        [NL_ARGS]; /* x, residual or dresidual, gate, dy; y, or dx and dgate; NULL: not given */
    const float
        *vector[NL_ARGS];   /* gamma, beta, running statistics; dgamma, dbeta; NULL: not given */
    nl_dtype type[NL_ARGS]; /* types of the saved dgamma and dbeta */
} submission;

/* The score of a submission, in the units of `normlab check`, by the bound of a two-pass kernel. */
typedef struct score {
    size_t count, exact;     /* all elements; elements equal to the exact value rounded once */
    double rms;              /* of the finite errors of y or dx, in units */
    size_t not_finite;       /* infinite errors of y or dx: NaN for a number, or a number for NaN */
    size_t judged, unjudged; /* numbers with a bound and impossible numbers; all other numbers */
    size_t beyond;           /* numbers beyond their bound, and impossible numbers */
    size_t impossible;       /* impossible numbers */
    size_t certain;          /* numbers beyond the certain bound, and impossible numbers */
    size_t groups;           /* rows, or channels */
    size_t groups_judged;    /* groups whose elements were all judged */
    size_t groups_beyond;    /* rows or channels with a wrong element of a tensor */
    double largest;          /* units */
    struct {
        double largest;
        size_t count, judged, beyond;
    } of[NL_ARGS];
    nl_arg
        worst_of; /* output and index of the largest error among the numbers beyond their bound; if
                        there are none, among those with a bound, or among all */
    size_t worst;
    double its_error, its_bound;
    double *kappa, *group_rms, *group_rest; /* [groups]; growth_pattern fills group_rest */
} score;

/* False: out of memory. The caller frees kappa. */
bool score_make(const subject *s, score *out);

typedef struct judgement {
    const submission *of;
    answer exact;
    nl_case as_case;
    nl_data data; /* gamma, beta, running statistics and dy */
    instance as_instance;
    expectations expectations;
    subject s;
    score score;
    bool right;     /* nothing is wrong, and some of y or dx was judged */
    bool explained; /* the members below are computed, because the error needed an explanation */
    mechanism formulas;
    region wrong; /* wrong numbers of y or dx */
    growth growth, rest;
    pattern pattern;
    bool named;           /* the mechanism is a known mistake */
    bool partly;          /* the likely mistakes explain only a part of the error */
    const char *rounding; /* the mechanism that fits growth and pattern, or NULL */
    char mechanism[400];  /* in one line */
    double *got;
} judgement;

/* *j keeps pointers to *of and to itself: do not move either. False: out of memory. */
bool judgement_make(judgement *j, const submission *of);
void judgement_free(judgement *j);

/* Returns "right", "partial" (some right, the others not judged), "wrong" or "unjudged". */
const char *judgement_verdict(const judgement *j);

/* Writes the name of number i of output o: "y[3, 1, 4]" (with the shape of x) or "dgamma[7]". */
const char *judgement_number(const judgement *j, nl_arg o, size_t i, char text[256]);

void judgement_print(const judgement *j, const char *y_path, FILE *out);

/* Writes a line for the right formula ("none"), then a line for each tested mistake. */
void judgement_csv(const judgement *j, FILE *out);

/* Compares the bits of rows with the bits of the same rows in another batch. */
typedef struct batches {
    size_t first, rows;      /* the compared rows of x */
    size_t others, numbers;  /* rows and numbers whose bits differ; all NaNs are equal */
    size_t beyond, unjudged; /* numbers of the other batch beyond the bound, and without a bound */
    size_t worst;            /* index of the number with the largest distance */
    double ulps;             /* the largest distance; infinite: one number is NaN */
    const char *ulps_of;     /* "": ulps of the judged type; " of f64": ulps of the files' type */
} batches;

/* Has a row (the last `axes` axes) the same shape in `part` and `x`, and does `x` have enough rows
 * from `first` on? If false, error is a sentence without a subject, such as
 * "has shape (23,): ...". */
bool batches_fit(const npy *x, size_t axes, const npy *part, size_t first, char *error,
                 size_t size);
batches batches_compare(const judgement *j, const npy *part, size_t first);
void batches_print(const judgement *j, const batches *b, const char *path, FILE *out);
