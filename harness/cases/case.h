/* A case: a problem plus the kind of data, written the same way everywhere:
 *
 *     op/pass/dtype/NxC[xS]/data[/option...]     layernorm/forward/f16/64x4096/normal/residual
 *
 * Shape `file` stands for the shape of the npy file.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cases/kinds.h"
#include "layer.h"
#include "normlab.h"

#define CASE_TEXT 512

/* Largest number of elements of a case that --quick keeps. */
enum { QUICK_MAX = 1 << 21 };

/* The caches before a timed call. Warm: the previous call used the same buffers. Rotating: calls
 * rotate through enough buffers for the last-level cache to evict each set. Cold: flushed. */
typedef enum cache_state { CACHE_WARM, CACHE_ROTATING, CACHE_COLD } cache_state;

typedef struct nl_case {
    nl_problem problem;
    bool residual;     /* there is a fused residual (in backward, a dresidual) */
    unsigned absent;   /* NL_BIT() of optional arguments that are NULL */
    unsigned in_place; /* NL_BIT() of the inputs that outputs overwrite */
    float gain;        /* multiplies the gain (gamma, or 1 + gamma) and beta */
    cache_state cache;
    bool streaming; /* the measured bandwidth limit uses streaming stores */
    int threads;    /* 0: the value of --threads */
    int team;       /* the most threads that OpenMP grants a kernel; 0: as usual */
    size_t gap[NL_ARGS], outer_gap[NL_ARGS]; /* elements after each row, and after `inner` rows */
    unsigned skew[NL_ARGS];                  /* bytes from the start of a page to each buffer */
    data_kind kind[NL_ARGS];                 /* .value is NULL: the default kind (x: from a file) */
    char data[256]; /* name of x's kind (kinds.h): "normal", "offset:16", "npy:x.npy" */
    char text[CASE_TEXT];
    size_t options; /* offset of the options in text, or the text's length */
} nl_case;

/* Parses a spelling without braces. False: error names the wrong part and what it may be. */
bool case_parse(const char *text, nl_case *out, char *error, size_t error_size);

/* Is x's kind `exact`, and do all other inputs have the default kind? */
bool case_is_exact(const nl_case *c);

/* Are all inputs independent random values? The user's own arrays count as such. */
bool case_is_random(const nl_case *c);

/* Returns the OR of NL_BIT() of the call's arguments. */
unsigned case_args(const nl_case *c);

/* What nl_forward(NULL, ...) or nl_backward(NULL, ...) runs. In place, AUTO does not stream. */
const nl_impl *case_best(const nl_case *c, int threads);

/* Returns the output that may overwrite this input, or NL_ARGS. */
nl_arg case_output_over(const nl_case *c, nl_arg input);

/* Parses the digits at *text and moves *text behind them. */
bool parse_size(const char **text, size_t *out);

/* Lists of cases, from spellings with lists and ranges in braces: {layernorm,rmsnorm},
 * {128..8192*2} (times 2), {1..67} (plus 1), {1..64+7} (plus 7). */
enum { CASES_MAX = 1000000 };

typedef struct case_list {
    nl_case *items;
    size_t count, tried; /* tried counts duplicates too; at most CASES_MAX */
    void *texts;         /* search tree of the cases' spellings */
} case_list;

/* cases_add() adds the cases of a spelling with braces; "museum" means the cases of all exhibits. A
 * file has one spelling per line, and comments after '#'. Skips cases that the list already has. */
bool cases_add(case_list *list, const char *spelling, char *error, size_t error_size);
bool cases_add_file(case_list *list, const char *path, char *error, size_t error_size);
void cases_free(case_list *list);

/* As nl_op_name() and similar functions, but with an int argument, for loops over all values. */
const char *op_name(int op);
const char *pass_name(int pass);
const char *dtype_name(int dtype);

/* Returns how an implementation computes the variance: "two-pass", or "-" if it computes none. */
const char *method_name(const nl_impl *impl);

bool pass_from_name(const char *name, nl_pass *pass);
bool dtype_from_name(const char *name, nl_dtype *dtype);
bool method_from_name(const char *name, nl_method *method);

/* The names of the set bits, with `between` between them. */
const char *names_of(unsigned bits, const char *(*name)(int), const char *between, char text[128]);

/* The position of an implementation in the table; NULL: the number of implementations. */
size_t impl_index(const nl_impl *impl);

/* Name of a method: "two-pass". */
const char *method_at(int method);

/* "batchnorm, layernorm, ... (also gemma, ...)" and "f32, ... or bf16", for error messages. */
const char *layer_names(void);
const char *pass_names(void);
const char *dtype_names(void);
const char *method_names(void);
