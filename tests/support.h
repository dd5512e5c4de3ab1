/* What several test files share. Tests decide in plain code and call cr_assert once, with the case
 * and its values in the message: an assertion is dear, and some loops here run millions of times.
 * SPDX-License-Identifier: MIT */
#ifndef NL_TEST_SUPPORT_H
#define NL_TEST_SUPPORT_H

#include "dtype.h"
#include "reference.h"
#include "verify/verify.h"

#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>
#include <stdint.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* Threads of the harness. One is faster while Criterion keeps every processor busy with tests. */
static inline void use_threads(int count) {
    (void)count;
#ifdef _OPENMP
    omp_set_num_threads(count);
#endif
}

static inline void one_thread(void) {
    use_threads(1);
}

/* Sebastiano Vigna's splitmix64: the whole state is one number, so a test names its own seed. */
static inline uint64_t random_bits(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Is it in the text as a word of its own? */
static inline bool has_word(const char *text, const char *word) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++) {
        bool begins = at == text || !strchr(letters, at[-1]);
        if (begins && (!at[length] || !strchr(letters, at[length]))) return true;
    }
    return false;
}

/* The pointers of the two argument structures, in their order. */
enum { POINTERS = 11 };
static const char *const pointers[2][POINTERS] = {
    {"x", "residual", "gamma", "beta", "y", "residual_out", "mean", "rstd", "running_mean",
     "running_var", "scratch"},
    {"x", "dy", "dresidual", "gamma", "mean", "rstd", "dx", "dgamma", "dbeta", "scratch"},
};
_Static_assert(sizeof(nl_forward_args) == 11 * sizeof(void *), "nl_forward_args has changed");
_Static_assert(sizeof(nl_backward_args) == 10 * sizeof(void *), "nl_backward_args has changed");

/* Every op and pass that has a meaning: the top rung of its teaching ladder, the pointers it cannot
 * do without once it is given all it takes, and the others it takes. */
static const struct job {
    nl_op op;
    nl_pass pass;
    const char *top, *needs, *takes;
} jobs[] = {
    {NL_BATCHNORM, NL_FORWARD, "batchnorm/refined", "x y running_mean running_var",
     "gamma beta mean rstd scratch"},
    {NL_BATCHNORM, NL_INFERENCE, "batchnorm/inference", "x y running_mean running_var",
     "gamma beta scratch"},
    {NL_BATCHNORM, NL_BACKWARD, "batchnorm/backward", "x dy mean rstd dx",
     "gamma dgamma dbeta scratch"},
    {NL_LAYERNORM, NL_FORWARD, "layernorm/refined", "x residual y",
     "gamma beta residual_out mean rstd scratch"},
    {NL_LAYERNORM, NL_BACKWARD, "layernorm/backward", "x dy mean rstd dx",
     "dresidual gamma dgamma dbeta scratch"},
    {NL_RMSNORM, NL_FORWARD, "rmsnorm/one_pass", "x residual y", "gamma residual_out rstd scratch"},
    {NL_RMSNORM, NL_BACKWARD, "rmsnorm/backward", "x dy rstd dx", "dresidual gamma dgamma scratch"},
    {NL_QWEN2_RMSNORM, NL_FORWARD, "rmsnorm/one_pass", "x residual y",
     "gamma residual_out rstd scratch"},
    {NL_QWEN2_RMSNORM, NL_BACKWARD, "rmsnorm/backward", "x dy rstd dx",
     "dresidual gamma dgamma scratch"},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

static inline bool may_have(const struct job *job, const char *pointer) {
    return has_word(job->needs, pointer) || has_word(job->takes, pointer);
}

static inline bool writes(const struct job *job, const char *pointer) {
    static const char *const outputs[] = {
        [NL_FORWARD] = "y residual_out mean rstd running_mean running_var scratch",
        [NL_BACKWARD] = "dx dgamma dbeta scratch",
        [NL_INFERENCE] = "y scratch",
    };
    return may_have(job, pointer) && has_word(outputs[job->pass], pointer);
}

/* One run of the reference, with room for its inputs and outputs. */
enum { MOST = 256, MOST_GROUP = 64 };
typedef struct run {
    nl_problem p;
    double x[MOST], residual[MOST], dy[MOST];
    const double *dresidual; /* [MOST], or NULL */
    float gamma[MOST], beta[MOST], running_mean[MOST], running_var[MOST];
    bool fused; /* with the residual */
    struct {
        double xhat[MOST], sum[MOST], dx[MOST], dx_gauge[MOST];
        long double mean[MOST], var[MOST], rstd[MOST], magnitude[MOST];
        long double running_mean[MOST], running_var[MOST];
        long double dgamma[MOST], dgamma_gauge[MOST], dbeta[MOST], dbeta_gauge[MOST];
    } out;
} run;

static inline bool compute(run *r, nl_pass pass, int threads) {
    ref_inputs in = {.x = r->x,
                     .residual = r->fused ? r->residual : NULL,
                     .dy = r->dy,
                     .dresidual = r->dresidual,
                     .gamma = r->gamma,
                     .beta = r->beta,
                     .running_mean = r->running_mean,
                     .running_var = r->running_var};
    ref_outputs out = {r->out.xhat,  r->out.sum,        r->out.mean,         r->out.var,
                       r->out.rstd,  r->out.magnitude,  r->out.running_mean, r->out.running_var,
                       r->out.dx,    r->out.dx_gauge,   r->out.dgamma,       r->out.dgamma_gauge,
                       r->out.dbeta, r->out.dbeta_gauge};
    r->p.pass = pass;
    return ref_compute(&r->p, &in, &out, threads);
}

/* Elements in a group; where element e of group g lies; whose gamma it takes. */
static inline size_t group_size(const nl_problem *p) {
    return p->op == NL_BATCHNORM ? p->n * p->s : p->c;
}

static inline size_t element(const nl_problem *p, size_t g, size_t e) {
    return p->op == NL_BATCHNORM ? e / p->s * p->c * p->s + g * p->s + e % p->s : g * p->c + e;
}

static inline size_t feature(const nl_problem *p, size_t i) {
    return i / p->s % p->c;
}

static inline bool is_centred(const nl_problem *p) {
    return p->op == NL_BATCHNORM || p->op == NL_LAYERNORM;
}

static inline double gain(const run *r, size_t i) {
    double gamma = r->gamma[feature(&r->p, i)];
    return r->p.op == NL_QWEN2_RMSNORM ? 1 + gamma : gamma;
}

/* A kind of data: x = mean + sigma * z, the residual sigma * z. */
struct kind {
    const char *name;
    double mean, sigma;
    float eps;
    bool signs; /* z is +-1 */
};

/* About normal, a multiple of 2^-15: sums of these are exact, and gamma can be moved exactly. */
static inline double random_z(uint64_t *seed) {
    uint64_t u = random_bits(seed);
    u = (u & 65535) + (u >> 16 & 65535) + (u >> 32 & 65535) + (u >> 48);
    return ((double)u - 131070) / 32768;
}

/* False: the shape is none of the layer's. */
static inline bool fill(run *r, nl_op op, const struct kind *kind, const size_t shape[3]) {
    uint64_t seed = 3;
    bool batch = op == NL_BATCHNORM;
    *r = (run){.fused = !batch && shape[0] != 3, .p = {.op = op, .momentum = 0.3f}};
    r->p.n = shape[0], r->p.c = shape[1], r->p.s = shape[2], r->p.eps = kind->eps;
    for (size_t i = 0; i < shape[0] * shape[1] * shape[2]; i++) {
        double z = kind->signs ? i % 5 < 2 ? 1 : -1 : random_z(&seed);
        r->x[i] = (float)(kind->mean + kind->sigma * z);
        r->residual[i] = (float)(kind->sigma * random_z(&seed));
        r->dy[i] = 0.5 + random_z(&seed);
    }
    double var = kind->sigma < 1e-15  ? 1e-30
                 : kind->sigma > 1e15 ? 1e30
                                      : kind->sigma * kind->sigma;
    for (size_t j = 0; j < shape[1]; j++) {
        r->gamma[j] = (float)(1 + random_z(&seed) / 4), r->beta[j] = (float)random_z(&seed);
        r->running_mean[j] = (float)(kind->mean + kind->sigma * random_z(&seed));
        r->running_var[j] = (float)(var * (3 + random_z(&seed) / 2));
    }
    return batch || shape[2] == 1;
}

/* The same layers in 400 bits, so many that no sum needs care: E[x^2] - E[x]^2 will do for the
 * variance, and a difference quotient of the loss, sum(dy * gain * xhat), for the gradient. */
typedef struct exact {
    mpfr_t x[MOST_GROUP], xhat[MOST_GROUP], dgamma[MOST_GROUP], dbeta[MOST_GROUP];
    mpfr_t mean, var, rstd, loss, slope, h, t;
} exact;
enum { EXACT_NUMBERS = sizeof(exact) / sizeof(mpfr_t), EXACT_BITS = 400 };

static inline void exact_open(exact *e) {
    for (int i = 0; i < EXACT_NUMBERS; i++) {
        mpfr_init2(((mpfr_t *)e)[i], EXACT_BITS);
        mpfr_set_zero(((mpfr_t *)e)[i], 1);
    }
}

static inline void exact_close(exact *e) {
    for (int i = 0; i < EXACT_NUMBERS; i++) mpfr_clear(((mpfr_t *)e)[i]);
    mpfr_free_cache();
}

/* Statistics, xhat and loss of group g, from e->x. */
static inline void exact_forward(exact *e, const run *r, size_t g) {
    size_t m = group_size(&r->p);
    mpfr_set_zero(e->mean, 1), mpfr_set_zero(e->var, 1), mpfr_set_zero(e->loss, 1);
    for (size_t i = 0; i < m; i++) {
        mpfr_add(e->mean, e->mean, e->x[i], MPFR_RNDN);
        mpfr_sqr(e->t, e->x[i], MPFR_RNDN);
        mpfr_add(e->var, e->var, e->t, MPFR_RNDN);
    }
    mpfr_div_ui(e->mean, e->mean, m, MPFR_RNDN);
    mpfr_div_ui(e->var, e->var, m, MPFR_RNDN);
    if (r->p.op != NL_BATCHNORM && r->p.op != NL_LAYERNORM) mpfr_set_zero(e->mean, 1);
    mpfr_sqr(e->t, e->mean, MPFR_RNDN);
    mpfr_sub(e->var, e->var, e->t, MPFR_RNDN);
    if (r->p.pass == NL_INFERENCE) {
        mpfr_set_flt(e->mean, r->running_mean[g], MPFR_RNDN);
        mpfr_set_flt(e->var, r->running_var[g], MPFR_RNDN);
    }
    mpfr_add_d(e->t, e->var, (double)r->p.eps, MPFR_RNDN);
    mpfr_rec_sqrt(e->rstd, e->t, MPFR_RNDN);
    for (size_t i = 0; i < m; i++) {
        size_t at = element(&r->p, g, i);
        mpfr_sub(e->t, e->x[i], e->mean, MPFR_RNDN);
        mpfr_mul(e->xhat[i], e->t, e->rstd, MPFR_RNDN);
        mpfr_mul_d(e->t, e->xhat[i], r->dy[at] * gain(r, at), MPFR_RNDN);
        mpfr_add(e->loss, e->loss, e->t, MPFR_RNDN);
    }
}

static inline void exact_group(exact *e, const run *r, size_t g) {
    for (size_t i = 0; i < group_size(&r->p); i++) {
        size_t at = element(&r->p, g, i);
        mpfr_set_d(e->x[i], r->x[at], MPFR_RNDN);
        if (r->fused) mpfr_add_d(e->x[i], e->x[i], r->residual[at], MPFR_RNDN);
    }
    exact_forward(e, r, g);
    mpfr_set_ui_2exp(e->h, 1, -120 - mpfr_get_exp(e->rstd), MPFR_RNDN);
}

/* e->slope: how the loss of group g moves with x_i, to about 2^-240 of it. */
static inline void exact_slope(exact *e, const run *r, size_t g, size_t i) {
    mpfr_add(e->x[i], e->x[i], e->h, MPFR_RNDN);
    exact_forward(e, r, g);
    mpfr_set(e->slope, e->loss, MPFR_RNDN);
    mpfr_sub(e->x[i], e->x[i], e->h, MPFR_RNDN);
    mpfr_sub(e->x[i], e->x[i], e->h, MPFR_RNDN);
    exact_forward(e, r, g);
    mpfr_sub(e->slope, e->slope, e->loss, MPFR_RNDN);
    mpfr_div(e->slope, e->slope, e->h, MPFR_RNDN);
    mpfr_div_2ui(e->slope, e->slope, 1, MPFR_RNDN);
    mpfr_add(e->x[i], e->x[i], e->h, MPFR_RNDN);
}

/* |got - want| */
static inline long double exact_error(exact *e, long double got, mpfr_t want) {
    mpfr_set_ld(e->t, got, MPFR_RNDN);
    mpfr_sub(e->t, e->t, want, MPFR_RNDN);
    mpfr_abs(e->t, e->t, MPFR_RNDN);
    return mpfr_get_ld(e->t, MPFR_RNDN);
}

/* A case, its inputs and answer, and guarded buffers to call an implementation on. */
typedef struct trial {
    nl_case c;
    nl_data data;
    answer want;
    instance in;
} trial;

static inline void trial_make(trial *t, const char *text) {
    char error[700] = "no memory";
    *t = (trial){0};
    if (!case_parse(text, &t->c, error, sizeof error) ||
        !data_make(&t->c, &t->data, error, sizeof error) || !answer_make(&t->c, &t->data, &t->want))
        cr_assert_fail("%s: %s", text, error);
}

static inline bool trial_place(trial *t, const nl_impl *impl) {
    size_t scratch = nl_scratch_bytes(impl, &t->c.problem);
    bool ok = instance_make(&t->c, &t->data, impl, scratch, PLACE_END, &t->in);
    if (!ok) cr_assert_fail("%s: no memory for its buffers", t->c.text);
    return ok;
}

static inline void trial_call(trial *t, int threads) {
    if (instance_call(&t->in, threads) != NL_OK)
        cr_assert_fail("%s on %s: %s", t->in.impl->name, t->c.text, nl_message());
}

static inline void trial_end(trial *t) {
    instance_free(&t->in), answer_free(&t->want), data_free(&t->data);
}

static inline bool is_tensor(nl_arg s) {
    return s == NL_X || s == NL_RESIDUAL || s == NL_DY || s == NL_Y || s == NL_RESIDUAL_OUT ||
           s == NL_DX;
}

/* Written by the call, also where it was read before? */
static inline bool is_result(const trial *t, nl_arg s) {
    bool running = s == NL_RUNNING_MEAN || s == NL_RUNNING_VAR;
    return t->in.at[s] && (running || !t->data.input[s]);
}

/* Group ga of a takes over the inputs of group gb of b; or, are the results of both the same, bit
 * for bit? Gamma, beta and their gradients belong to all rows, so to none. */
static inline bool pair(trial *a, size_t ga, const trial *b, size_t gb, bool take) {
    const nl_problem *p = &a->c.problem, *q = &b->c.problem;
    bool right = true;
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        bool tensor = is_tensor(s), own = tensor || s == NL_MEAN || s == NL_RSTD;
        if (!own && p->op != NL_BATCHNORM) continue;
        if (take ? !a->data.input[s] : !is_result(a, s)) continue;
        size_t bytes = tensor ? nl_dtype_bytes(p->dtype) : sizeof(float);
        for (size_t e = 0; e < (tensor ? group_size(p) : 1); e++) {
            char *to = (char *)a->in.at[s] + (tensor ? element(p, ga, e) : ga) * bytes;
            const char *from = take ? b->data.input[s] : b->in.at[s];
            from += (tensor ? element(q, gb, e) : gb) * bytes;
            if (take) memcpy(to, from, bytes);
            right = right && memcmp(to, from, bytes) == 0;
        }
    }
    return right;
}

/* The same bits in all results? */
static inline bool same_results(const trial *a, const trial *b) {
    bool right = true;
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (is_result(a, s))
            right = right && memcmp(a->in.at[s], b->in.at[s], a->data.bytes[s]) == 0;
    return right;
}

/* Multiplies floats by 2^k. */
static inline void scale(trial *t, nl_arg s, int k) {
    float *f = t->in.at[s];
    for (size_t i = 0; f && i < t->data.bytes[s] / sizeof *f; i++) f[i] = ldexpf(f[i], k);
}

#endif
