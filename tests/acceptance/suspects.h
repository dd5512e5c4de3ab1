/* Kernels that are known to be wrong, formulas with one mistake, and right kernels.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "acceptance.h"

typedef enum fate { UNSEEN, PASSES, CAUGHT } fate;

/* own: the smallest known case that the suspect fails; for a right kernel, any case. */
typedef struct suspect {
    const char *group; /* "mutant", "lab", "museum", "formula", "right" */
    char name[96];
    nl_case own;
    nl_impl impl;
    bool mutated; /* mutant_kernel(..., w) makes impl anew before each test */
    wrong w;
    char formula[32]; /* name of the mistake; impl is not called */
    const char *when; /* "called again and again" if one verified call passes; else NULL */
    fate fates[ACCEPTANCES];
    int examined; /* number of tests that ran the suspect */
} suspect;

typedef struct suspects {
    suspect *at;
    size_t count;
} suspects;

/* Each function adds one group. pairs: for each kernel its file, then the cases of its assignment,
 * one of which the kernel should fail. False: an error, such as too little memory. */
bool suspects_add_mutants(suspects *all);
bool suspects_add_labs(suspects *all, char **pairs, int count);
bool suspects_add_museum(suspects *all);
bool suspects_add_formulas(suspects *all);
bool suspects_add_right(suspects *all);

/* A case with its answer, in memory where an access a little outside a buffer does no harm. */
typedef struct stage {
    nl_case c;
    nl_data data;
    answer want;
    instance in;
    char *memory[NL_ARGS];
    expectations d;
    double *rounded[NL_ARGS], *got; /* rounded: outputs of a right kernel, in their types */
    subject s;                      /* for formulas, which w evaluates */
    workspace w;
    mistake *mistakes;
    size_t mistakes_count;
    bool crashed; /* during the last call */
} stage;

/* t fills the inputs; if t is NULL, the inputs are the case's own data. */
bool stage_make(stage *g, const char *text, const acceptance *t, int turn, bool formulas);
void stage_free(stage *g);

/* Calls the suspect; `stage_got` then reads an output. False: the suspect rejects the case. */
bool stage_run(stage *g, const suspect *k);
const double *stage_got(stage *g, const suspect *k, nl_arg output);

/* Is the error of an output beyond its bound? */
bool stage_is_wrong(stage *g, const suspect *k);
