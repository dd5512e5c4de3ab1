/* A case: a problem plus the kind of data, with one spelling everywhere:
 *
 *     op/pass/dtype/NxC[xS]/data[/option...]     layernorm/forward/f16/64x4096/normal/residual
 *
 * Shape `file` takes the shape of npy data.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/kinds.h"
#include "layer.h"
#include "normlab.h"

#define CASE_TEXT 512

/* Above this many elements a case is large: --quick leaves it out. */
enum { QUICK_MAX = 1 << 21 };

/* The caches before a timed call. Warm: the previous call used the same buffers. Rotating: calls
 * rotate through enough buffers for the last-level cache to evict each set. Cold: flushed. */
typedef enum cache_state { CACHE_WARM, CACHE_ROTATING, CACHE_COLD } cache_state;

typedef struct nl_case {
    nl_problem problem;
    bool residual;     /* a fused residual; in backward, dresidual */
    unsigned absent;   /* NL_BIT() of optional arguments that are NULL */
    unsigned in_place; /* NL_BIT() of the inputs that outputs overwrite */
    float gain;        /* multiplies the gain and beta */
    cache_state cache;
    bool streaming; /* the limit uses streaming stores */
    int threads;    /* 0: the command line's */
    int team;       /* OpenMP grants this number, whatever is requested; 0: as usual */
    size_t gap[NL_ARGS],
        outer_gap[NL_ARGS];  /* elements between rows, and between inner dimensions */
    unsigned skew[NL_ARGS];  /* bytes from the start of a page to each buffer */
    data_kind kind[NL_ARGS]; /* of each input; without `value`: the default */
    char data[256];          /* of x: "normal", "offset:16", "npy:x.npy": kinds.h */
    char text[CASE_TEXT];
    size_t options; /* the offset of the options in text; of its end if there are none */
} nl_case;

/* Parses a spelling without braces. False: error names the wrong part and what it may be. */
bool case_parse(const char *text, nl_case *out, char *error, size_t error_size);

/* Are the data `exact`, with no other kind for any input? */
bool case_is_exact(const nl_case *c);

/* Are all summed inputs independent random values? */
bool case_is_random(const nl_case *c);

/* NL_BIT() of each argument of the call. */
unsigned case_args(const nl_case *c);

/* The output of the call that may overwrite this input, or NL_ARGS. */
nl_arg case_output_over(const nl_case *c, nl_arg input);

/* Parses the digits at *text and moves *text behind them. */
bool parse_size(const char **text, size_t *out);

/* Lists of cases, from spellings with lists and ranges in braces: {layernorm,rmsnorm},
 * {128..8192*2} (times 2), {1..67} (plus 1), {1..64+7} (plus 7). */
enum { CASES_MAX = 1000000 };

typedef struct case_list {
    nl_case *items;
    size_t count, tried; /* tried: duplicates included; at most CASES_MAX */
    void *texts;         /* their spellings, a search tree */
} case_list;

/* cases_add() adds the cases of a spelling with braces; "museum" adds those of all exhibits. A file
 * has one spelling a line, and comments from '#'. Cases that the list already has are skipped. */
bool cases_add(case_list *list, const char *spelling, char *error, size_t error_size);
bool cases_add_file(case_list *list, const char *path, char *error, size_t error_size);
void cases_free(case_list *list);

/* nl_op_name() and similar functions, with an index as argument, for loops over all numbers. */
const char *op_name(int op);
const char *pass_name(int pass);
const char *dtype_name(int dtype);

/* How an implementation computes the variance: "two-pass", or "-" for those that compute none. */
const char *method_name(const nl_impl *impl);

bool pass_from_name(const char *name, nl_pass *pass);
bool dtype_from_name(const char *name, nl_dtype *dtype);
bool method_from_name(const char *name, nl_method *method);

/* Of a method: "two-pass". */
const char *method_at(int method);

/* "batchnorm, layernorm, ... (also gemma, ...)" and "f32, ... or bf16", for error messages. */
const char *layer_names(void);
const char *pass_names(void);
const char *dtype_names(void);
const char *method_names(void);
