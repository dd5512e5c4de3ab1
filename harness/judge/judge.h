/* Compares anybody's outputs with the reference, within the same bound as our own, and finds the
 * likely mechanism of their error. SPDX-License-Identifier: MIT */
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
    nl_dtype type[NL_ARGS]; /* of dgamma and dbeta: as they were saved */
} submission;

/* The score of a submission: every number in the units and by the bound of `normlab check`. */
typedef struct score {
    size_t count, exact;     /* elements of y or dx; those equal to the exact value rounded once */
    double rms;              /* units, over the finite errors of y or dx */
    size_t not_finite;       /* infinite errors of y or dx: NaN for a number, or a number for NaN */
    size_t judged, unjudged; /* numbers with a bound, and impossible ones; the rest */
    size_t beyond;           /* numbers beyond their bound, or impossible without one */
    size_t impossible;       /* the latter */
    size_t certain;          /* numbers beyond the certain bound as well as the probable one */
    size_t groups;           /* rows, or channels */
    size_t groups_judged;    /* those without an unjudged number */
    size_t groups_beyond;    /* rows or channels with a wrong element of y or dx */
    double largest;          /* units */
    struct {
        double largest;
        size_t count, judged, beyond;
    } of[NL_ARGS];
    nl_arg
        worst_of; /* the output and index of the largest error: of the numbers beyond their bound,
                        else of those with a bound, else of all */
    size_t worst;
    double its_error, its_bound;
    double *kappa, *group_rms, *group_rest; /* [groups]; growth_pattern fills group_rest */
} score;

/* False: out of memory. The caller frees kappa. */
bool score_make(const subject *s, score *out);

typedef struct judgement {
    const submission *of;
    ref_inputs in;
    ref_outputs want;
    nl_case as_case;
    nl_data data; /* gamma, beta and dy */
    instance as_instance;
    expectations expectations;
    subject s;
    score score;
    bool right;     /* nothing is wrong, and some of y or dx was judged */
    bool explained; /* the error needed an explanation: the members below are computed */
    mechanism formulas;
    region wrong; /* numbers of y or dx */
    growth growth, rest;
    pattern pattern;
    bool named;           /* the mechanism is a known mistake */
    bool partly;          /* the likely mistakes explain much, not all */
    const char *rounding; /* the mechanism that fits growth and pattern, or NULL */
    char mechanism[400];  /* in one line */
    double *tensors;
    long double *groups;
} judgement;

/* *j keeps pointers to *of and to itself: do not move either. False: out of memory. */
bool judgement_make(judgement *j, const submission *of);
void judgement_free(judgement *j);

/* "right"; "partial": right where it was judged, which is not everywhere; "wrong"; or "unjudged". */
const char *judgement_verdict(const judgement *j);

/* Writes number i of output o as "y[3, 1, 4]", by the shape of x, or "dgamma[7]". */
const char *judgement_number(const judgement *j, nl_arg o, size_t i, char text[256]);

void judgement_print(const judgement *j, const char *y_path, FILE *out);

/* One line without a mistake, then one for each mistake that was tested. */
void judgement_csv(const judgement *j, FILE *out);

/* The same rows computed in another batch: have they the same bits? */
typedef struct batches {
    size_t first, rows;     /* of x that were compared */
    size_t others, numbers; /* rows and numbers with other bits; all NaNs are equal */
    size_t beyond,
        unjudged;        /* numbers of the other batch that are beyond the bound, that have none */
    size_t worst;        /* the number of y or dx with the largest distance */
    double ulps;         /* that distance; infinite: one of the two is NaN */
    const char *ulps_of; /* "": ulps of the judged type; " of f64": of the files' type */
} batches;

/* Does part end in the last `axes` axes of x, which make a row, and has it no more rows than x has from
 * `first` on? False: error says what is wrong, without a subject: "has shape (23,): ...". */
bool batches_fit(const npy *x, size_t axes, const npy *part, size_t first, char *error,
                 size_t size);
batches batches_compare(const judgement *j, const npy *part, size_t first);
void batches_print(const judgement *j, const batches *b, const char *path, FILE *out);
