/* Finds the wrong numbers of an output. SPDX-License-Identifier: MIT */
#pragma once

#include "judge/subject.h"

/* The rows, features and places that have wrong numbers; a tensor is [n][c][s], a vector has
 * features or rows. */
typedef struct region {
    nl_arg output;
    size_t count, wrong, first; /* numbers; those that are wrong, and the first of them */
    bool *rows, *features, *places;
    size_t box; /* numbers in wrong rows, features and places at once */
} region;

/* Finds an output's numbers beyond their bound. False: out of memory. */
bool region_make(const subject *s, nl_arg output, region *out);
void region_free(region *r);
bool region_has(const subject *s, const region *r, size_t i);

/* "5 of 185: in every row, from feature 32 on: the tail". */
void region_text(const subject *s, const region *r, char *text, size_t size);

/* All outputs: "mean, rstd are wrong in every element; y is wrong in ...; right: residual_out". */
void regions_text(const subject *s, const region of[NL_ARGS], char *text, size_t size);

void text_append(char *text, size_t size, const char *more);
