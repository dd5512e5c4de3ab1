/* BatchNorm in the vector words of vec.h: training, backward and inference. A rung passes its
 * recipe to a function below, which is compiled once for each instruction set. run.c drives the
 * steps; the loops are in sums.c and output.c. SPDX-License-Identifier: MIT */
#pragma once

#include "vec/vec.h"

/* How a rung computes a batch. */
typedef struct batch_recipe {
    bool backward;
    bool inference;                                   /* inference, with the running statistics */
    enum { TWO_PASS, REFINED, CERTIFIED } statistics; /* how training computes the statistics */
    bool tiles;                                       /* sums stay in registers for several rows */
    bool reverse;                                     /* writes the output from end to start */
    bool streaming;                                   /* stores y or dx past the caches */
    int prefetch_rows; /* prefetches x this number of rows ahead; 0: none */
} batch_recipe;

enum {
    TILE_ROWS = 8,        /* rows of a tile */
    NARROW = 256,         /* columns up to which tiles have TILE_ROWS rows even if x is uncached */
    L1_COLUMNS = 1024,    /* columns whose sums stay in the first-level cache */
    L1_OUTPUT = 2048,     /* columns whose coefficients stay in the first-level cache */
    WIDE = 1024,          /* the most columns of a row that joins several short rows */
    STRIP = 64,           /* channels whose statistics are computed together */
    SHORT = 32,           /* channels with fewer values per sample are read as columns */
    PIECE = 256,          /* rows of columns summed in float; pieces are added in double */
    BLOCK = 16,           /* rows of a block; blocks are summed separately, then added up */
    SPAN = 16384,         /* elements of a channel in a piece, if channels are runs */
    RUN = 16 * SUM_BLOCK, /* elements of a run summed in float; these sums are added in double */
    CACHED = 524288,      /* bytes of x (and dy) that stay in a core's cache between two readings */
    LANES = VLEN < 4 ? 4 : 16 /* fewest accumulators of a sum: 16 rows of a block, or 4 vectors */
};

static const nl_threshold batch_thresholds[]
    __attribute__((unused)) = {{NL_OF_N, TILE_ROWS},
                               {NL_OF_N, BLOCK},
                               {NL_OF_N, 2 * BLOCK}, /* from here on the output joins rows */
                               {NL_OF_N, PIECE},
                               {NL_OF_C, STRIP},
                               {NL_OF_COLUMNS, VLEN},
                               {NL_OF_COLUMNS, 4 * VLEN},
                               {NL_OF_COLUMNS, NARROW},
                               {NL_OF_COLUMNS, L1_COLUMNS},
                               {NL_OF_COLUMNS, L1_OUTPUT},
                               {NL_OF_S, VLEN},
                               {NL_OF_S, SHORT},
                               {NL_OF_S, 4 * VLEN},
                               {NL_OF_S, SUM_BLOCK},
                               {NL_OF_S, RUN},
                               {NL_OF_GROUP, SPAN},
                               {NL_OF_ELEMENTS, CACHED / 8}, /* f32, x and dy */
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
