/* Functions that several test files share. Tests decide in plain code and call cr_assert once, with
 * the case and its values in the message: assertions are slow, and some loops run millions of
 * times. SPDX-License-Identifier: MIT */
#pragma once

#include "base/random.h"
#include "dtype.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* The harness's threads. One thread is faster, because Criterion runs a test on every processor. */
static inline void use_threads(int count) {
    (void)count;
#ifdef _OPENMP
    omp_set_num_threads(count);
#endif
}

static inline void one_thread(void) {
    use_threads(1);
}

/* A kernel in plain C that takes every problem; the arguments are more fields of its nl_impl. */
#define TEST_IMPL(...)                                                                            \
    {                                                                                             \
        .isa = "c", .about = "for a test", .ops = NL_BIT(NL_OPS) - 1,                             \
        .passes = NL_BIT(NL_PASSES) - 1, .dtypes = NL_BIT(NL_DTYPES) - 1, .lanes = 1, __VA_ARGS__ \
    }

/* Sebastiano Vigna's splitmix64: its state is one number, so every test can have its own seed. */
static inline uint64_t random_bits(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Draw i of a stream: a number below `most`. */
static inline size_t below(size_t most, uint64_t stream, uint64_t i) {
    return (size_t)(random_uniform(stream, i) * (double)most);
}

/* The spelling of a problem, as in cases: "layernorm/forward/f32/3x37x1". */
static inline const char *spelled(const nl_problem *p) {
    static char text[128];
    snprintf(text, sizeof text, "%s/%s/%s/%zux%zux%zu", nl_op_name(p->op), nl_pass_name(p->pass),
             nl_dtype_name(p->dtype), p->n, p->c, p->s);
    return text;
}

/* Does this processor run the implementation, and does it take the problem? */
static inline bool computes(const nl_impl *impl, const nl_problem *p) {
    return nl_isa_runs(impl->isa) && nl_accepts(impl, p);
}

/* Does the text contain the whole word? */
static inline bool has_word(const char *text, const char *word) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++) {
        bool begins = at == text || !strchr(letters, at[-1]);
        if (begins && (!at[length] || !strchr(letters, at[length]))) return true;
    }
    return false;
}

/* The size of a group; the index of element e of group g; the feature of element i. */
static inline size_t group_size(const nl_problem *p) {
    return p->op == NL_BATCHNORM ? p->n * p->s : p->c;
}

static inline size_t element(const nl_problem *p, size_t g, size_t e) {
    return p->op == NL_BATCHNORM ? e / p->s * p->c * p->s + g * p->s + e % p->s : g * p->c + e;
}

static inline size_t feature(const nl_problem *p, size_t i) {
    return i / p->s % p->c;
}

static inline bool is_gated(const nl_problem *p) {
    return p->op == NL_GATED_RMSNORM || p->op == NL_GATE_FIRST_RMSNORM;
}

static inline bool has_plus_one(const nl_problem *p) {
    return p->op == NL_QWEN2_RMSNORM;
}

static inline bool is_centred(const nl_problem *p) {
    return p->op == NL_BATCHNORM || p->op == NL_LAYERNORM;
}
