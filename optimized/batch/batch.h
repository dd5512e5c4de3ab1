/* BatchNorm in vector words: training, backward and inference. A rung is a recipe: it passes one to
 * a function below. What all rungs share is compiled once for each instruction set: run.c drives the
 * steps, sums.c and output.c have the loops. SPDX-License-Identifier: MIT */
#pragma once

#include "vec.h"

/* How a rung computes a batch. */
typedef struct batch_recipe {
    bool backward;
    bool inference;                                   /* on the running statistics */
    enum { TWO_PASS, REFINED, CERTIFIED } statistics; /* of training */
    bool tiles;                                       /* sums stay in registers for several rows */
    bool reverse;                                     /* the output begins where the sums ended */
    bool streaming;                                   /* stores y or dx past the caches */
    int prefetch_rows; /* distance at which x is prefetched, 0: not at all */
} batch_recipe;

enum {
    TILE_ROWS = 8,     /* rows of a tile of columns */
    NARROW = 256,      /* columns: a block of them is a single span of memory */
    L1_COLUMNS = 1024, /* columns whose sums stay in the first-level cache */
    STRIP = 64,        /* channels whose statistics are made together */
    SHORT = 32,        /* channels with fewer values a sample are read as columns */
    PIECE = 256,       /* rows of columns that are summed in float; pieces are added in double */
    BLOCK = 16,        /* rows of a piece that are summed by themselves, then join those before */
    SPAN = 16384,      /* elements of all runs of a piece */
    RUN = 16 * SUM_BLOCK, /* elements of a run that are summed in float; then in double */
    CACHED = 524288, /* bytes of x (and dy) that a core's own cache keeps between two readings */
    LANES = VLEN < 4 ? 4 : 16 /* of a sum, at least: a block has 16 rows, and a run four vectors */
};

static const nl_threshold batch_thresholds[]
    __attribute__((unused)) = {{NL_OF_N, TILE_ROWS},
                               {NL_OF_N, BLOCK},
                               {NL_OF_N, PIECE},
                               {NL_OF_C, STRIP},
                               {NL_OF_COLUMNS, VLEN},
                               {NL_OF_COLUMNS, 4 * VLEN},
                               {NL_OF_COLUMNS, NARROW},
                               {NL_OF_COLUMNS, L1_COLUMNS},
                               {NL_OF_S, VLEN},
                               {NL_OF_S, SHORT},
                               {NL_OF_S, 4 * VLEN},
                               {NL_OF_S, SUM_BLOCK},
                               {NL_OF_S, RUN},
                               {NL_OF_GROUP, SPAN},
                               {NL_OF_ELEMENTS, CACHED / 8}, /* dy too, f32 */
                               {NL_OF_ELEMENTS, CACHED / 4},
                               {NL_OF_ELEMENTS, CACHED / 2},
                               {0}};

/* The bodies of a rung's forward() and backward(), and the scratch that both need. */
#define batch_forward NL_OF_ISA(batch_forward)
#define batch_backward NL_OF_ISA(batch_backward)
#define batch_scratch NL_OF_ISA(batch_scratch)
NL_API void batch_forward(const nl_problem *p, const nl_forward_args *a, int threads,
                          batch_recipe q);
NL_API void batch_backward(const nl_problem *p, const nl_backward_args *a, int threads,
                           batch_recipe q);
NL_API size_t batch_scratch(const nl_problem *p);
