/* Every implementation in the table is right on every kind of data with every option (the suite
 * combines more), and has exact properties that need no reference. A group is the values that
 * share one mean: a row, or a channel of BatchNorm. SPDX-License-Identifier: MIT */
#include "jobs.h"
#include "trial.h"

#include <criterion/parameterized.h>
#include <fnmatch.h>
#include <stdio.h>

TestSuite(implementations, .init = one_thread);

/* An implementation on one kind of problem. `parts` has a bit for each optional part. */
typedef struct setting {
    const nl_impl *m;
    const struct job *job;
    nl_dtype t;
    unsigned parts;
    size_t s, groups, size; /* for properties */
    size_t skew, worked;    /* skew: in bytes; worked: cases computed so far */
} setting;
enum { FUSED = 1, IN_PLACE = 2, PLAIN = 4, CAST = 8, PARTS = 16 };
static const char *const parts[] = {"/residual", "/in-place", "/no-affine", "/cast-before-weight"};

enum { NORMAL, ZEROS, CONSTANT, LARGE, NANS = 9, KINDS = 11 };
static const char *const kinds[] = {"normal",   "zeros",     "constant", "huge", "uniform", "exact",
                                    "outliers", "offset:16", "tiny",     "nan",  "inf"};

/* A group longer than the pieces in which kernels sum long groups. */
enum { LONG = 16384 + 68 };

/* A test's parameters: the table indices of the implementations that NL_TEST_IMPL matches. */
static struct criterion_test_params every_entry(void) {
    static size_t index[4096];
    const char *only = getenv("NL_TEST_IMPL");
    size_t count = 0;
    for (size_t i = 0; i < nl_impl_count(); i++)
        if (!only || fnmatch(only, nl_impl_at(i)->name, 0) == 0) index[count++] = i;
    return cr_make_param_array(size_t, index, count);
}

/* Steps through an implementation's problems, each with an even and with an odd *i. */
static bool next(setting *o, size_t index, size_t *i) {
    o->m = nl_impl_at(index);
    if (!nl_isa_runs(o->m->isa)) cr_skip_test("this processor has no %s", o->m->isa);
    for (; *i < JOBS * 2 * NL_DTYPES; ++*i) {
        o->job = &jobs[*i / 2 / NL_DTYPES], o->t = (nl_dtype)(*i / 2 % NL_DTYPES);
        nl_problem p = {.op = o->job->op, .pass = o->job->pass, .dtype = o->t};
        if (nl_accepts(o->m, &p)) return true;
    }
    return false;
}

/* Makes a trial. False: the layer has no such case, or the implementation does not take it. */
static bool begin(trial *t, setting *o, size_t groups, size_t size, size_t kind, unsigned with) {
    char text[200];
    bool batch = o->job->op == NL_BATCHNORM, inference = o->job->pass == NL_INFERENCE;
    const char *fused = o->job->pass == NL_BACKWARD ? "dresidual" : "residual";
    if (with & FUSED && !may_have(o->job, fused)) return false;
    if (batch && !inference && groups && size == 1) return false;
    if (o->m->c_max && size > o->m->c_max) return false;
    int length = snprintf(text, sizeof text, "%s/%s/%s/%zux%zux%zu/%s", nl_op_name(o->job->op),
                          nl_pass_name(o->job->pass), nl_dtype_name(o->t),
                          batch ? size / o->s : groups, batch ? groups : size, o->s, kinds[kind]);
    for (int i = 0; i < 4; i++)
        if (with >> i & 1) length += sprintf(text + length, "%s", parts[i]);
    if (o->skew) sprintf(text + length, "/skew=%zu", o->skew);
    if (o->groups) /* the properties */
        trial_make_calls(t, text);
    else
        trial_make(t, text);
    o->worked++;
    return true;
}

/* A method may have no bound if squares leave float's range. E[x^2] - E[x]^2 has no bound on
 * constant groups, such as one value. */
static bool is_hopeless(const nl_impl *m, size_t kind, size_t size) {
    if (size == 1 && kind != LARGE) kind = CONSTANT;
    return kind == LARGE ? !m->range_safe : kind == CONSTANT && m->method == NL_ONE_PASS;
}

/* Judges all outputs. For a demonstration, only buffers, inputs and residual_out are judged. */
static void judge(setting *o, size_t groups, size_t size, size_t kind, int threads) {
    trial t;
    if (!begin(&t, o, groups, size, kind, o->parts)) return;
    for (placement where = PLACE_END; where <= PLACE_START; where++) {
        verdict v = verify(&t.c, &t.data, &t.want, o->m, where, threads);
        bool judged =
            v.outcome == OUTCOME_OK || (v.outcome == OUTCOME_DEMO && is_hopeless(o->m, kind, size));
        if (o->m->demonstration && groups) judged = v.outcome == OUTCOME_DEMO;
        if (!judged || v.compared == 0)
            cr_assert_fail("%s@%s on %s, %d threads: %s %s", o->m->name, o->m->isa, t.c.text,
                           threads, outcome_name(v.outcome), v.why);
    }
    trial_end(&t);
}

ParameterizedTestParameters(implementations, verified) {
    return every_entry();
}

ParameterizedTest(size_t *index, implementations, verified) {
    setting o = {0};
    for (size_t i = 0; next(&o, *index, &i); i += 2) {
        bool batch = o.job->op == NL_BATCHNORM;
        const size_t usual = 67, most = 4 * (size_t)o.m->lanes + 3;
        const size_t few = o.m->c_max && o.m->c_max < 21 ? o.m->c_max - 1 : 21;
        o.s = 1;
        judge(&o, batch ? few : 0, batch ? 0 : few, NORMAL, 2);
        /* Tests every size from 1 to beyond every unrolled loop. The size and the type determine
         * the other settings. */
        for (size_t c = 1; c <= usual || c <= most; c++) {
            const size_t n = 1 + (c + o.t) % 3, turn = 3 * c + n + i;
            o.parts = (unsigned)(turn / KINDS % PARTS) & ~(batch ? FUSED : 0U);
            o.s = batch ? 1 + (n == 1) + c / 3 % 3 : 1, o.skew = turn % 16 * 4;
            /* A single row of NaN does not show whether it was written. */
            const bool blind = is_hopeless(o.m, turn % KINDS, batch ? n * o.s : c) ||
                               (n == 1 && turn % KINDS >= NANS);
            const size_t kind = blind ? NORMAL : turn % KINDS;
            judge(&o, batch ? c : n, batch ? n * o.s : c, kind, 1 + (int)(turn % 3));
        }
        o.skew = 0;
        /* Tests every kind of data with every set of optional parts, each in one of the types. */
        for (size_t turn = o.t; turn < KINDS * PARTS; turn += NL_DTYPES) {
            o.parts = (unsigned)(turn / KINDS), o.s = batch ? 3 : 1;
            judge(&o, 3, few, turn % KINDS, 1 + (int)(turn % 3));
        }
        o.parts = 0;
        judge(&o, 2, LONG, NORMAL, 2);
    }
    cr_assert(o.worked > 0, "%s@%s: nothing was compared", o.m->name, o.m->isa);
}

/* The properties. Each function gets a case after a call, makes more calls and compares bits. */
static bool start(trial *t, setting *o, size_t groups, unsigned more) {
    return begin(t, o, groups, o->size, NORMAL, o->parts | more) && trial_place(t, o->m);
}

/* An unwritten result is still NaN, and so is anything computed from it. */
static bool all_written(setting *o, trial *all) {
    bool right = true;
    (void)o;
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        nl_dtype d = is_tensor(s) ? all->c.problem.dtype : NL_F32;
        for (size_t i = 0; is_result(all, s) && i < all->data.bytes[s] / nl_dtype_bytes(d); i++)
            right &= !isnan(nl_load(d, all->in.at[s], i));
    }
    return right;
}

/* Computes each group by itself, or the groups in another order. BatchNorm's samples keep their
 * order, because it affects sums. */
static bool groups_elsewhere(setting *o, trial *all) {
    bool right = true;
    for (size_t count = 1; count <= o->groups; count += o->groups - 1) {
        trial other;
        start(&other, o, count, 0);
        for (size_t first = 0; first < o->groups; first++) {
            instance_fill(&other.in);
            for (size_t g = 0; g < count; g++)
                pair(&other, g, all, (2 * g + first) % o->groups, true);
            trial_call(&other, 1);
            for (size_t g = 0; g < count; g++)
                right &= pair(&other, g, all, (2 * g + first) % o->groups, false);
        }
        trial_end(&other);
    }
    return right;
}

static bool in_place_and_threads(setting *o, trial *all) {
    bool right = true;
    for (int way = 0; way < 6; way++) {
        trial other;
        start(&other, o, o->groups, way % 2 ? IN_PLACE : 0);
        trial_call(&other, 1 + way / 2);
        right &= same_results(all, &other);
        trial_end(&other);
    }
    return right;
}

/* Each buffer begins at a different element of a vector and of a cache line. */
static bool anywhere(setting *o, trial *all) {
    bool right = true;
    for (unsigned with = 0; with <= IN_PLACE; with += IN_PLACE) {
        trial other;
        start(&other, o, o->groups, with);
        for (size_t way = 0; way < 16; way++) {
            void *was[NL_ARGS];
            memcpy(was, other.in.at, sizeof was);
            for (nl_arg s = 0; s < NL_ARGS; s++) {
                size_t steps = way * (with ? 1 : 2 * (size_t)s + 1) % 16; /* towards the start */
                size_t bytes = is_tensor(s) ? nl_dtype_bytes(o->t) : sizeof(float);
                if (was[s]) other.in.at[s] = (char *)was[s] - steps * bytes;
            }
            instance_fill(&other.in);
            trial_call(&other, 1);
            right &= same_results(all, &other);
            memcpy(other.in.at, was, sizeof was);
        }
        trial_end(&other);
    }
    return right;
}

static bool gain_of_one(setting *o, trial *all) {
    trial none;
    start(&none, o, o->groups, PLAIN);
    trial_call(&none, 1);
    instance_fill(&all->in);
    float *gamma = all->in.at[NL_GAMMA], *beta = all->in.at[NL_BETA];
    for (size_t j = 0; j < all->c.problem.c; j++) gamma[j] = !has_plus_one(&all->c.problem);
    if (beta) memset(beta, 0, all->data.bytes[NL_BETA]);
    trial_call(all, 1);
    bool right = same_results(&none, all);
    trial_end(&none);
    return right;
}

/* If x is scaled, results scale exactly or, like y, do not change. Only f32 has enough range. */
static bool scaled(setting *o, trial *all) {
    static const int power[NL_ARGS] =
        {[NL_X] = 1,    [NL_RESIDUAL] = 1, [NL_RUNNING_MEAN] = 1, [NL_RUNNING_VAR] = 2,
         [NL_MEAN] = 1, [NL_RSTD] = -1,    [NL_RESIDUAL_OUT] = 1, [NL_DX] = -1};
    bool right = true;
    for (int k = -9; k <= 8 && o->t == NL_F32; k += 17) {
        trial big;
        start(&big, o, o->groups, 0);
        big.c.problem.eps = ldexpf(big.c.problem.eps, 2 * k);
        for (nl_arg s = 0; s < NL_ARGS; s++) scale(&big, s, big.data.input[s] ? k * power[s] : 0);
        if (o->job->pass == NL_BACKWARD) scale(&big, NL_RESIDUAL, -2 * k); /* dresidual: as dx */
        trial_call(&big, 1);
        for (nl_arg s = 0; s < NL_ARGS; s++) scale(&big, s, is_result(&big, s) ? -k * power[s] : 0);
        right &= same_results(all, &big);
        trial_end(&big);
    }
    return right;
}

/* NaN or Inf in a group does not change other groups. The group itself becomes NaN, except that in
 * an RMSNorm an Inf makes the group's finite elements 0. In inference every element is separate. A
 * demonstration may give anything in the group. */
static bool special_values(setting *o, trial *all) {
    const nl_problem *p = &all->c.problem;
    bool right = true, backward = p->pass == NL_BACKWARD;
    for (int k = 0; k < 3; k++) {
        trial t;
        size_t bad = (size_t)k * (o->groups - 1) / 2, odd = o->size / 2;
        start(&t, o, o->groups, 0);
        nl_store(p->dtype, t.in.at[NL_X], element(p, bad, odd),
                 (float[]){NAN, INFINITY, -INFINITY}[k]);
        if (backward) ((float *)t.in.at[NL_RSTD])[bad] = NAN;
        trial_call(&t, 1);
        for (size_t g = 0; g < o->groups; g++) right &= g == bad || pair(&t, g, all, g, false);
        bool expected = p->pass != NL_INFERENCE && !o->m->demonstration;
        for (size_t e = 0; e < o->size && expected; e++) {
            float y = nl_load(p->dtype, t.in.at[backward ? NL_DX : NL_Y], element(p, bad, e));
            bool finite = !is_centred(p) && !backward && k && e != odd;
            right &= finite ? y == 0 : isnan(y);
        }
        trial_end(&t);
    }
    return right;
}

/* y is beta (or 0) for groups of zeros, for LayerNorm of one element (dx is 0 too), and for
 * constant groups if the mean is refined. Otherwise the mean of equal numbers may be rounded. */
static bool beta_itself(setting *o, trial *all) {
    const nl_problem *p = &all->c.problem;
    bool forward = p->pass == NL_FORWARD, refined = o->m->method == NL_REFINED, right = true;
    const size_t kind[] = {ZEROS, CONSTANT, NORMAL}, size[] = {o->size, o->size, 1};
    const bool applies[] = {forward, forward && refined && is_centred(p), p->op == NL_LAYERNORM};
    for (int k = 0; k < 3; k++) {
        trial t;
        if (!applies[k] || o->parts & FUSED) continue;
        begin(&t, o, o->groups, size[k], kind[k], 0);
        trial_place(&t, o->m), trial_call(&t, 1);
        const float *beta = t.data.input[NL_BETA], *dgamma = t.in.at[NL_DGAMMA];
        for (size_t i = 0; i < o->groups * size[k]; i++) {
            float y = nl_load(p->dtype, t.in.at[forward ? NL_Y : NL_DX], i);
            right &= y == (beta ? nl_round(p->dtype, beta[feature(&t.c.problem, i)]) : 0);
        }
        right &= !dgamma || dgamma[0] == 0;
        trial_end(&t);
    }
    return right;
}

static const struct {
    bool (*holds)(setting *o, trial *all);
    const char *name;
} properties[] = {{all_written, "everything is written"},
                  {groups_elsewhere, "a group is the same alone and elsewhere in a batch"},
                  {in_place_and_threads, "calls in place or on several threads give equal bits"},
                  {anywhere, "buffers may begin anywhere"},
                  {scaled, "scaling x by 2^k and eps by 4^k changes nothing"},
                  {special_values, "NaN and Inf stay in their group"},
                  {beta_itself, "zero, constant and single elements give beta"},
                  {gain_of_one, "a gain of one equals no gain"}};

static void try_properties(setting *o, size_t groups, size_t size) {
    trial all;
    o->groups = groups, o->size = size;
    if (!start(&all, o, groups, 0)) return;
    for (size_t k = 0; k < sizeof properties / sizeof *properties; k++) {
        instance_fill(&all.in);
        trial_call(&all, 1);
        if (properties[k].holds(o, &all)) continue;
        cr_assert_fail("%s on %s: not so: %s", o->m->name, all.c.text, properties[k].name);
    }
    trial_end(&all);
}

ParameterizedTestParameters(implementations, properties) {
    return every_entry();
}

/* The numbers and sizes of groups are not multiples of a vector's length. Each setting has at most
 * one long size. */
ParameterizedTest(size_t *index, implementations, properties) {
    setting o = {0};
    fork_always();
    for (size_t i = 0; next(&o, *index, &i); i++) {
        bool batch = o.job->op == NL_BATCHNORM;
        o.s = batch && i % 2 ? 3 : 1, o.parts = !batch && i % 2 ? FUSED : 0;
        size_t usual = 69, most = o.m->c_max;
        try_properties(&o, 19, most && most < usual ? most - 1 : usual);
        if (i % 5 == 0) try_properties(&o, 2, LONG);
        /* one step and one element more than a block of sums, or than a group of blocks */
        const size_t step = batch || o.m->lanes < 4 || most ? 0 : (size_t)o.m->lanes;
        if (step && i % 5 == 1) try_properties(&o, 5, 17 * step + 1);
        if (step && i % 5 == 2) try_properties(&o, 5, 129 * step + 1);
        if (step && i % 5 == 3) try_properties(&o, 5, 4 * 17 * step + 1); /* 4 vectors a step */
    }
    cr_assert(o.worked > 0, "%s: nothing was tried", o.m->name);
}
