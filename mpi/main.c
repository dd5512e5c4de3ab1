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

extern const nl_rung batchnorm_two, batchnorm_merged, batchnorm_overlapped, batchnorm_backward,
    rows_features, rows_pipelined, rows_gradients;
static const nl_rung *const rungs[] = {&batchnorm_two,        &batchnorm_merged,
                                       &batchnorm_overlapped, &batchnorm_backward,
                                       &rows_features,        &rows_pipelined,
                                       &rows_gradients,       NULL};
static const nl_order *const orders[] = {&nl_order_tree, &nl_order_any};
static const int counts[] = {1, 2, 3, 4, 8};
enum { COUNTS = sizeof counts / sizeof *counts, RANKS_MAX = 64 };
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

/* A rank's part of an array: all of it, a piece, or with split features a piece of each row. */
static void copy(const part *t, nl_arg a, char *whole, char *own, bool back) {
    const nl_problem *w = &t->whole->problem;
    const size_t all = nl_arg_bytes(w, a), mine = nl_arg_bytes(&t->c.problem, a);
    const size_t rows = t->rung->features && nl_args[a].extent == NL_TENSOR ? w->n : 1;
    const size_t stride = all / rows, bytes = mine / rows;
    if (mine < all)
        whole += nl_segment(&t->ranks, t->border[t->ranks.rank]) * (stride / t->ranks.total);
    for (size_t i = 0; bytes && i < rows; i++, whole += stride, own += bytes)
        memcpy(back ? whole : own, back ? own : whole, bytes);
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
}

static void part_call(const part *t, const nl_ranks *r) {
    const nl_forward_args f = instance_forward_args(&t->in);
    const nl_backward_args b = instance_backward_args(&t->in);
    if (t->rung->backward)
        t->rung->backward(r, &t->c.problem, &b);
    else
        t->rung->forward(r, &t->c.problem, &f);
}

static void part_free(part *t) {
    instance_free(&t->in);
    data_free(&t->data);
}

/* Puts the ranks' outputs into `whole`. Returns the name of an output that all ranks have and that
 * is not the same on all; or NULL. */
static const char *gather(const part *t, instance *whole) {
    const char *wrong = NULL;
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!whole->at[a] || !(nl_passes[t->c.problem.pass].writes & NL_BIT(a))) continue;
        const size_t all = whole->data->bytes[a];
        int shared = t->data.bytes[a] == all;
        void *own = nl_zeros(all), *each = nl_zeros(all);
        copy(t, a, own, t->in.at[a], true);
        for (size_t i = 0; nl_args[a].extent != NL_TENSOR && i < all / sizeof(float); i++)
            if (isnan(((float *)own)[i])) ((float *)own)[i] = NAN; /* its sign means nothing */
        MPI_Allreduce(own, whole->at[a], (int)all, MPI_BYTE, MPI_BOR, t->ranks.comm);
        MPI_Allreduce(own, each, (int)all, MPI_BYTE, MPI_BAND, t->ranks.comm);
        MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, t->ranks.comm);
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
    unsigned long calls, failed, differ; /* differ: from the bits of the first */
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
    if (wrong) v = failure("%s is not the same on every rank", wrong);
    const uint64_t hash = instance_hash(&whole);
    instance_free(&whole);
    const bool differs = *bits && *bits != hash;
    if (differs && r->order == &nl_order_tree) v = failure("%s", "other bits than with one rank");
    *bits = *bits ? *bits : hash;
    t->calls++, t->differ += differs, t->failed += v.outcome == OUTCOME_FAIL;
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
                       tally *tallies) {
    for (const nl_rung *const *g = rungs; *g; g++)
        for (int o = 0; nl_accepts(&(*g)->impl, &c->problem) && o < 2; o++) {
            uint64_t bits = 0;
            for (int k = 0; k < 2 * COUNTS; k++) {
                r[k / 2].order = orders[o];
                if (r[k / 2].comm == MPI_COMM_NULL || r[k / 2].size > world_size) continue;
                judge(*g, &r[k / 2], k % 2 == 0, c, data, want, &bits, &tallies[o]);
            }
        }
}

/* What is timed: a reduction of `elements` sums, or without these the library's kernel or the rung
 * on a part. */
typedef struct timing {
    const nl_ranks *ranks;
    size_t elements;
    const part *part;
    bool library;
} timing;

static void call(const timing *t) {
    if (t->library) {
        instance_call(&t->part->in, 1);
    } else if (t->part) {
        part_call(t->part, t->ranks);
    } else {
        nl_job job;
        nl_job_make(&job, t->ranks, &nl_sums, t->elements);
        nl_job_run(&job);
        nl_job_free(&job);
    }
}

/* The median of some rounds; a round is as slow as its slowest rank. */
static void point(const char *series, const char *panel, size_t x, timing t) {
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
    const double median = stats_median(ns, ROUNDS, 0.95).median;
    if (world_rank == 0) printf("ranks,%s,%s,%zu,%.0f\n", panel, series, x, median);
}

/* The first rung that takes the case on all ranks, the same by each rank alone on its part, and the
 * library's kernel on that part; first, the reductions. */
static void time_case(const char *series, const nl_case *c, const nl_data *data, const answer *want,
                      nl_ranks r, tally *t) {
    const nl_rung *const *g = rungs + 1; /* batchnorm_merged */
    while (*g && !nl_accepts(&(*g)->impl, &c->problem)) g++;
    uint64_t bits = 0;
    part own;
    r.order = orders[1];
    judge(*g, &r, true, c, data, want, &bits, t);
    part_make(&own, *g, &r, true, c, data, PLACE_END);
    const size_t border[] = {0, nl_own(&own.ranks)};
    nl_ranks alone = own.ranks;
    alone.comm = MPI_COMM_SELF, alone.rank = 0, alone.size = 1, alone.border = border;
    point(series, "together", c->problem.n, (timing){&own.ranks, 0, &own, false});
    point(series, "alone", c->problem.n, (timing){&alone, 0, &own, false});
    point(series, "library", c->problem.n, (timing){&alone, 0, &own, true});
    for (size_t elements = 1; t->calls == 1 && elements <= 1 << 18; elements *= 4)
        for (int o = 0; o < 2; o++) {
            own.ranks.order = orders[o];
            point(series, orders[o]->name, elements * 4,
                  (timing){&own.ranks, elements, NULL, false});
        }
    part_free(&own);
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
    tally tallies[2] = {0};
    for (size_t i = 0; usable && i < cases.count; i++) {
        const nl_case *c = &cases.items[i];
        nl_data data;
        answer want;
        if (!(usable = data_make(c, &data, error, sizeof error))) break;
        if (!answer_make(c, &data, &want)) MPI_Abort(MPI_COMM_WORLD, 1);
        if (times)
            time_case(argv[2], c, &data, &want, all, tallies);
        else
            check_case(c, &data, &want, r, tallies);
        answer_free(&want);
        data_free(&data);
    }
    if (!usable && world_rank == 0) fprintf(stderr, "%s\n", error);
    const tally *tree = &tallies[0], *any = &tallies[1];
    if (usable && !times && world_rank == 0)
        printf(
            "%lu calls, %lu failed; other bits than with one rank: %lu by the tree, %lu by MPI\n",
            tree->calls + any->calls, tree->failed + any->failed, tree->differ, any->differ);
    int code = !usable ? 2 : !(tree->calls + any->calls) || tree->failed + any->failed;
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return code;
}
