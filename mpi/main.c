/* Checks and times the rungs of this folder; every rank runs it, and rank 0 prints.
 *     mpirun -n 8 normlab_openmpi check CASE|FILE.txt...         as 1, 2, 3, 4 and 8 ranks
 *     mpirun -n 2 normlab_openmpi time NAME CASE|FILE.txt...     points of a study, of this series
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/stats.h"
#include "cases/case_list.h"
#include "ranks.h"
#include "verify/outputs.h"

#include <stdio.h>

extern const nl_rung nl_rung_batchnorm_two, nl_rung_batchnorm_merged, nl_rung_batchnorm_overlapped,
    nl_rung_batchnorm_backward, nl_rung_rows_features, nl_rung_rows_pipelined,
    nl_rung_rows_gradients;
static const nl_rung *const rungs[] = {&nl_rung_batchnorm_two,        &nl_rung_batchnorm_merged,
                                       &nl_rung_batchnorm_overlapped, &nl_rung_batchnorm_backward,
                                       &nl_rung_rows_features,        &nl_rung_rows_pipelined,
                                       &nl_rung_rows_gradients};
static const nl_order *const orders[] = {&nl_order_tree, &nl_order_any};
static const int counts[] = {1, 2, 3, 4, 8};
enum { RUNGS = sizeof rungs / sizeof *rungs, COUNTS = sizeof counts / sizeof *counts };
enum { RANKS_MAX = 64 };
static int world_rank, world_size;

/* A part of a case: of one rank, with the whole beside it. */
typedef struct part {
    const nl_rung *rung;
    nl_ranks ranks;
    size_t border[RANKS_MAX + 1];
    const nl_case *whole;
    nl_case c;
    nl_data data;
    instance in;
} part;

/* Where a rank's part of an array lies: `outer` pieces of `bytes` bytes, `stride` apart. */
typedef struct layout {
    size_t outer, stride, offset, bytes;
} layout;

static layout layout_of(const part *t, nl_arg a) {
    const nl_problem *w = &t->whole->problem, *p = &t->c.problem;
    const size_t all = nl_arg_bytes(w, a), own = nl_arg_bytes(p, a);
    const size_t first = nl_segment(&t->ranks, t->border[t->ranks.rank]);
    const bool strided = t->rung->features && nl_args[a].extent == NL_TENSOR;
    if (all == own) return (layout){1, all, 0, own};
    const size_t outer = strided ? w->n : 1, stride = all / outer;
    return (layout){outer, stride, first * (stride / t->ranks.total), own / outer};
}

static void copy(const part *t, nl_arg a, char *whole, char *own, bool back) {
    const layout l = layout_of(t, a);
    for (size_t i = 0; l.bytes && i < l.outer; i++) {
        char *there = whole + i * l.stride + l.offset, *here = own + i * l.bytes;
        memcpy(back ? there : here, back ? here : there, l.bytes);
    }
}

/* Even: as many segments for each rank. Uneven: more and more, and none for the first of many. */
static void part_make(part *t, const nl_rung *g, const nl_ranks *r, bool even, const nl_case *c,
                      const nl_data *data, placement where) {
    *t = (part){.rung = g, .ranks = *r, .whole = c, .c = *c};
    size_t *axis = g->features ? &t->c.problem.c : &t->c.problem.n, p = (size_t)r->size;
    t->ranks.total = *axis, t->ranks.border = t->border;
    const size_t segments = t->ranks.segments = *axis < SEGMENTS ? *axis : SEGMENTS;
    for (size_t k = 0; k <= p; k++) t->border[k] = segments * k * (even ? p : k) / (p * p);
    *axis = nl_own_begin(&t->ranks, nl_own(&t->ranks));
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!data->bytes[a]) continue;
        t->data.bytes[a] = nl_arg_bytes(&t->c.problem, a);
        if (!data->input[a]) continue;
        t->data.input[a] = nl_zeros(t->data.bytes[a]);
        copy(t, a, data->input[a], t->data.input[a], false);
    }
    if (!instance_make(&t->c, &t->data, NULL, 0, where, &t->in)) MPI_Abort(MPI_COMM_WORLD, 1);
    if (where == PLACE_START) t->in.unset = UNSET_NUMBERS, instance_fill(&t->in);
}

static void part_call(const part *t, const nl_ranks *r) {
    void *const *at = t->in.at;
    const nl_forward_args f = {at[NL_X],
                               at[NL_RESIDUAL],
                               at[NL_GAMMA],
                               at[NL_BETA],
                               at[NL_Y],
                               at[NL_RESIDUAL_OUT],
                               at[NL_MEAN],
                               at[NL_RSTD],
                               at[NL_RUNNING_MEAN],
                               at[NL_RUNNING_VAR],
                               NULL};
    const nl_backward_args b = {at[NL_X],    at[NL_DY], at[NL_RESIDUAL], at[NL_GAMMA], at[NL_MEAN],
                                at[NL_RSTD], at[NL_DX], at[NL_DGAMMA],   at[NL_DBETA], NULL};
    if (t->rung->backward)
        t->rung->backward(r, &t->c.problem, &b);
    else
        t->rung->forward(r, &t->c.problem, &f);
}

static void part_free(part *t) {
    instance_free(&t->in);
    data_free(&t->data);
}

static bool on_any(bool mine, const nl_ranks *r) {
    int any = mine;
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, r->comm);
    return any;
}

/* Puts the ranks' outputs into `whole`. Returns the name of an input that a rank changed, or of an
 * output that all ranks have and that is not the same on all; or NULL. */
static const char *gather(const part *t, instance *whole) {
    const nl_ranks *r = &t->ranks;
    const char *wrong = NULL;
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!whole->at[a]) continue;
        const size_t bytes = t->data.bytes[a], all = whole->data->bytes[a];
        if (on_any(bytes && t->data.input[a] && !instance_consumes(&t->in, a) &&
                       memcmp(t->in.at[a], t->data.input[a], bytes) != 0,
                   r))
            wrong = nl_args[a].name;
        if (!(nl_passes[t->c.problem.pass].writes & NL_BIT(a))) continue;
        char *own = nl_zeros(all), *each = nl_zeros(all);
        copy(t, a, own, t->in.at[a], true);
        MPI_Allreduce(own, whole->at[a], (int)all, MPI_BYTE, MPI_BOR, r->comm);
        MPI_Allreduce(own, each, (int)all, MPI_BYTE, MPI_BAND, r->comm);
        const bool shared = !on_any(bytes != all, r);
        if (shared && memcmp(whole->at[a], each, all) != 0) wrong = nl_args[a].name;
        free(own), free(each);
    }
    return wrong;
}

/* The most .lanes with which the bound allows for the longest chain of additions: a segment, and in
 * any order fewer merges than segments. */
static int lanes_of(const part *t) {
    const size_t s = t->ranks.segments, positions = t->whole->problem.s;
    const size_t chain = (t->ranks.total + s - 1) / s * positions + s - 1;
    const double terms = (double)(t->ranks.total * positions);
    int lanes = (int)s;
    while (lanes > 1 && terms / lanes + lanes < (double)chain) lanes--;
    return t->rung->impl.lanes ? t->rung->impl.lanes : lanes; /* the library's, where it sums */
}

typedef struct tally {
    unsigned long calls, failed, differ; /* differ: their bits depend on the ranks */
    double error, bound;                 /* where the error is nearest to its bound */
} tally;

/* Checks a call. *bits: of the first of several, or 0. */
static void judge(const nl_rung *g, const nl_ranks *r, bool even, const nl_case *c,
                  const nl_data *data, const answer *want, uint64_t *bits, tally *t) {
    part own;
    part_make(&own, g, r, even, c, data, r->rank % 2 ? PLACE_START : PLACE_END);
    nl_impl impl = g->impl;
    impl.lanes = lanes_of(&own);
    instance whole;
    if (!instance_make(c, data, &impl, 0, PLACE_END, &whole)) MPI_Abort(MPI_COMM_WORLD, 1);
    part_call(&own, &own.ranks);
    const char *wrong = gather(&own, &whole);
    part_free(&own);
    verdict v = {0};
    if (r->rank == 0) v = outputs_check(&whole, want);
    if (wrong) v = failure("%s changed, or is not the same on every rank", wrong);
    const uint64_t hash = instance_hash(&whole);
    instance_free(&whole);
    const bool differs = *bits && *bits != hash;
    if (differs && r->order == &nl_order_tree) v = failure("%s", "other bits than with one rank");
    *bits = *bits ? *bits : hash;
    t->calls++, t->differ += differs, t->failed += v.outcome == OUTCOME_FAIL;
    if (v.outcome == OUTCOME_OK && v.error_u * t->bound >= t->error * v.bound_u)
        t->error = v.error_u, t->bound = v.bound_u;
    if (r->rank == 0 && v.outcome == OUTCOME_FAIL)
        printf("FAIL %s %s ranks=%d order=%s split=%s: %s\n", g->impl.name, c->text, r->size,
               r->order->name, even ? "even" : "uneven", v.why);
}

/* The first `size` ranks; on the others comm is MPI_COMM_NULL. */
static nl_ranks ranks_make(int size) {
    nl_ranks r = {.rank = world_rank, .size = size};
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < size ? 0 : MPI_UNDEFINED, world_rank, &r.comm);
    return r;
}

static void check_case(const nl_case *c, const nl_data *data, const answer *want, nl_ranks *r,
                       tally (*tallies)[2]) {
    for (int g = 0; g < RUNGS; g++)
        for (int o = 0; nl_accepts(&rungs[g]->impl, &c->problem) && o < 2; o++) {
            uint64_t bits = 0;
            for (int k = 0; k < 2 * COUNTS; k++) {
                r[k / 2].order = orders[o];
                if (r[k / 2].comm == MPI_COMM_NULL || r[k / 2].size > world_size) continue;
                judge(rungs[g], &r[k / 2], k % 2 == 0, c, data, want, &bits, &tallies[g][o]);
            }
        }
}

static bool summary(tally (*tallies)[2]) {
    unsigned long calls = 0, failed = 0;
    for (int g = 0; world_rank == 0 && g < RUNGS; g++)
        for (int o = 0; o < 2; o++) {
            const tally *t = &tallies[g][o];
            calls += t->calls, failed += t->failed;
            if (t->calls)
                printf("%-20s order=%-4s %4lu calls, %lu failed, %lu with other bits than the "
                       "first; error %.3g of %.3g units\n",
                       rungs[g]->impl.name, orders[o]->name, t->calls, t->failed, t->differ,
                       t->error, t->bound);
        }
    if (world_rank == 0) printf("%lu calls, %lu failed\n", calls, failed);
    return calls && !failed;
}

/* What is timed: a rung, or without one a reduction of `elements` sums, or the library's kernel for
 * this rank's part. */
typedef struct timing {
    const part *own;
    const nl_rung *rung;
    const nl_ranks *ranks;
    size_t elements;
} timing;

static void call(const timing *t) {
    nl_job job;
    if (t->rung) {
        part_call(t->own, t->ranks);
    } else if (t->elements) {
        nl_job_make(&job, t->ranks, &nl_sums, t->elements);
        nl_job_run(&job);
        nl_job_free(&job);
    } else {
        instance_call(&t->own->in, 1);
    }
}

/* The median of some rounds; a round is as slow as its slowest rank. */
static void point(const char *series, const char *what, const char *how, size_t x, timing t) {
    enum { ROUNDS = 11 };
    double ns[ROUNDS], round;
    int calls = 1;
    for (int k = -1; k < ROUNDS; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        round = clock_ns();
        for (int i = 0; i < calls; i++) call(&t);
        round = (clock_ns() - round) / calls;
        MPI_Allreduce(MPI_IN_PLACE, &round, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (k < 0) calls = round > 2e6 ? 1 : round < 4e3 ? 500 : (int)(2e6 / round);
        if (k >= 0) ns[k] = round;
    }
    if (world_rank == 0)
        printf("ranks,%s %s,%s,%zu,%.0f\n", what, how, series, x,
               stats_median(ns, ROUNDS, 0.95).median);
}

static void time_sums(const char *series, nl_ranks r) {
    size_t border[RANKS_MAX + 1];
    r.total = r.segments = (size_t)r.size, r.border = border;
    for (size_t k = 0; k <= r.total; k++) border[k] = k;
    for (int o = 0; o < 2; o++)
        for (size_t elements = 1; elements <= 1 << 18; elements *= 4) {
            const timing t = {.ranks = &r, .elements = elements};
            r.order = orders[o];
            point(series, "allreduce", orders[o]->name, elements * sizeof(float), t);
        }
}

/* A rung on all ranks, and by each rank alone on its part: the rest is the network. */
static void time_case(const char *series, const nl_case *c, const nl_data *data, const answer *want,
                      nl_ranks r, tally *t) {
    for (int g = 0; g < RUNGS; g++)
        for (int o = 0; nl_accepts(&rungs[g]->impl, &c->problem) && o < 2; o++) {
            uint64_t bits = 0;
            part own;
            r.order = orders[o];
            judge(rungs[g], &r, true, c, data, want, &bits, t);
            part_make(&own, rungs[g], &r, true, c, data, PLACE_END);
            const size_t part_border[] = {0, nl_own(&own.ranks)};
            nl_ranks alone = own.ranks;
            alone.comm = MPI_COMM_SELF, alone.rank = 0, alone.size = 1, alone.border = part_border;
            const timing together = {&own, rungs[g], &own.ranks, 0},
                         apart = {&own, rungs[g], &alone, 0};
            point(series, rungs[g]->impl.name, orders[o]->name, c->problem.n, together);
            if (o) point(series, rungs[g]->impl.name, "alone", c->problem.n, apart);
            if (o && g == 0) point(series, "library", "alone", c->problem.n, (timing){.own = &own});
            part_free(&own);
        }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    const bool times = argc > 3 && strcmp(argv[1], "time") == 0;
    bool usable = world_size <= RANKS_MAX && (times || (argc > 2 && strcmp(argv[1], "check") == 0));
    char error[CASE_TEXT] = "usage: mpirun -n RANKS normlab_MPI check CASE|FILE.txt...\n"
                            "       mpirun -n RANKS normlab_MPI time SERIES CASE|FILE.txt...\n";
    case_list cases = {0};
    for (int i = times ? 3 : 2; usable && i < argc; i++) {
        const size_t length = strlen(argv[i]);
        const bool file = length > 4 && strcmp(argv[i] + length - 4, ".txt") == 0;
        usable = (file ? cases_add_file : cases_add)(&cases, argv[i], error, sizeof error);
    }
    nl_ranks r[COUNTS], all = ranks_make(world_size);
    for (int k = 0; k < COUNTS; k++) r[k] = ranks_make(counts[k]);
    tally tallies[RUNGS][2] = {0};
    if (times && usable) time_sums(argv[2], all);
    for (size_t i = 0; usable && i < cases.count; i++) {
        const nl_case *c = &cases.items[i];
        nl_data data;
        answer want;
        if (!(usable = data_make(c, &data, error, sizeof error))) break;
        if (!answer_make(c, &data, &want)) MPI_Abort(MPI_COMM_WORLD, 1);
        if (times)
            time_case(argv[2], c, &data, &want, all, tallies[0]);
        else
            check_case(c, &data, &want, r, tallies);
        answer_free(&want);
        data_free(&data);
    }
    if (!usable && world_rank == 0) fprintf(stderr, "%s\n", error);
    int code = !usable ? 2 : times ? tallies[0]->failed != 0 : !summary(tallies);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return code;
}
