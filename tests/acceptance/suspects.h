/* Kernels that are known to be wrong, formulas with one mistake, and right kernels.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "acceptance.h"

typedef enum fate { UNSEEN, PASSES, CAUGHT } fate;

/* own: the smallest known case that tells it from a right kernel; of a right one, any case. */
typedef struct suspect {
    const char *group; /* "mutant", "lab", "museum", "formula", "right" */
    char name[96];
    nl_case own;
    nl_impl impl;
    bool mutated; /* impl is made of w, before each test */
    wrong w;
    char formula[32]; /* its mistake; impl is not called */
    const char *when; /* NULL, or a further requirement of its own case */
    fate fates[ACCEPTANCES];
    int examined; /* by this many tests */
} suspect;

typedef struct suspects {
    suspect *at;
    size_t count;
} suspects;

/* Each adds its group; pairs: a kernel's file, and cases to find one that it fails. False: after a
 * message. */
bool suspects_add_mutants(suspects *all);
bool suspects_add_labs(suspects *all, char **pairs, int count);
bool suspects_add_museum(suspects *all);
bool suspects_add_formulas(suspects *all);
bool suspects_add_right(suspects *all);

/* A case with its answer, in plain memory: accesses a few bytes beside a buffer do no harm. */
typedef struct stage {
    nl_case c;
    nl_data data;
    answer want;
    instance in;
    char *memory[NL_ARGS]; /* of its buffers */
    expectations d;
    double *rounded[NL_ARGS], *got; /* rounded: outputs of a right kernel, in their types */
    subject s;                      /* for formulas, which are evaluated in w */
    workspace w;
    mistake *mistakes;
    size_t mistakes_count;
    bool crashed; /* in the last call */
} stage;

/* t fills the inputs; t NULL: data of the case's own kind. */
bool stage_make(stage *g, const char *text, const acceptance *t, int turn, bool formulas);
void stage_free(stage *g);

/* Calls the suspect; `stage_got` then reads an output. False: the stage is not one that it
 * computes. */
bool stage_run(stage *g, const suspect *k);
const double *stage_got(stage *g, const suspect *k, nl_arg output);

/* Is an output beyond the bound? */
bool stage_is_wrong(stage *g, const suspect *k);
