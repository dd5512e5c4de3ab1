/* A case: a problem plus the kind of data, with one spelling everywhere:
 *
 *     op/pass/dtype/NxC[xS]/data[/option...]     layernorm/forward/f16/64x4096/normal/residual
 *
 * with lists and ranges in braces: {layernorm,rmsnorm}, {128..8192*2} (times 2), {1..67} (plus 1),
 * {1..64+7} (plus 7). Shape `file` takes the shape of npy data.
 * SPDX-License-Identifier: MIT */
#ifndef NL_CASE_H
#define NL_CASE_H

#include "normlab.h"

#define CASE_TEXT 512

/* Above this many elements a case is large: --quick leaves it out. */
enum { QUICK_MOST = 1 << 21 };

/* What the buffers have been through when a call is timed: used by the call before; not used for
 * longer than the last-level cache remembers, because calls rotate through many; flushed. */
typedef enum cache_state { CACHE_WARM, CACHE_ROTATING, CACHE_COLD } cache_state;

typedef struct nl_case {
    nl_problem problem;
    bool residual;  /* a fused residual; of backward, dresidual */
    bool in_place;  /* y == x, residual_out == residual, dx == dy */
    bool no_affine; /* gamma and beta are NULL */
    cache_state cache;
    bool streaming; /* the limit to compare with stores past the caches */
    int threads;    /* 0: as many as the command line says */
    size_t skew;    /* bytes by which outputs lie off the inputs' place in their pages */
    char data[256]; /* "normal", "offset:16", "npy:x.npy": kinds.h */
    char text[CASE_TEXT];
    size_t options; /* where in text the options begin, "residual/in-place"; its end if none */
} nl_case;

typedef struct case_list {
    nl_case *items;
    size_t count;
    void *texts; /* a tree of their spellings */
} case_list;

/* One spelling without braces. False: error says which part was wrong and what it may be. */
bool case_parse(const char *text, nl_case *out, char *error, size_t error_size);

/* The digits at *text, as a size; *text moves behind them. */
bool parse_size(const char **text, size_t *out);

/* Adds every case of a spelling with braces; of a file: a case a line, '#' starts a comment; or of
 * the museum: what experiments/museum.txt has. A case that is in the list is not added again. */
bool cases_add(case_list *list, const char *spelling, char *error, size_t error_size);
bool cases_add_file(case_list *list, const char *path, char *error, size_t error_size);
bool cases_add_museum(case_list *list, char *error, size_t error_size);
void cases_free(case_list *list);

/* "batchnorm, layernorm, ... (also gemma, ...)", for error messages. */
const char *layer_names(void);

#endif
