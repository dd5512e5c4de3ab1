/* The speed tables of Zhang & Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019,
 * arXiv 1910.07467: times of whole training steps. SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

typedef struct paper_time {
    double seconds, error; /* error: the paper's +- */
} paper_time;

typedef struct paper_row {
    const char *table, *model;
    paper_time none, layernorm, rmsnorm, partial; /* partial: pRMSNorm */
} paper_row;

extern const paper_row paper_rows[];
extern const size_t paper_rows_count;

const paper_row *paper_find(const char *table); /* "T3-PyTorch"; NULL: no such row */

/* Fractions of the step: LayerNorm's share, and the saving of the norm, with its +-. */
double paper_share(const paper_row *r);
paper_time paper_saving(const paper_row *r, paper_time with);
