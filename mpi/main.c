/* Checks and times the rungs of this folder. Every rank runs this program; only rank 0 prints.
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/stats.h"
#include "cases/case.h"
#include "ranks.h"
#include "verify/verify.h"

#include <stdio.h>

static const char usage[] = "usage: mpirun -n RANKS normlab_MPI check CASE|FILE.txt...\n"
                            "           checks the rungs on 1, 2, 3, 4 and RANKS ranks, up to 64\n"
                            "       mpirun -n RANKS normlab_MPI time SERIES CASE|FILE.txt...\n"
                            "           prints points of a study: study,panel,series,x,y";
enum { COUNTS = 5 };

/* `time` times the first rung that takes a case. */
extern const nl_rung batchnorm_merged, batchnorm_overlapped, batchnorm_two, batchnorm_backward,
    rows_features, rows_pipelined, rows_gradients;
static const nl_rung *const rungs[] = {&batchnorm_merged, &batchnorm_overlapped,
                                       &batchnorm_two,    &batchnorm_backward,
                                       &rows_features,    &rows_pipelined,
                                       &rows_gradients,   NULL};
static const nl_order *const orders[] = {&nl_order_tree, &nl_order_any};
static int world_rank, world_size;

/* The first rung from g on that takes the problem, or the final NULL. */
static const nl_rung *const *taker(const nl_rung *const *g, const nl_problem *p) {
    while (*g && !(p->n > 0 && p->parameters == NL_F32 && nl_accepts(&(*g)->impl, p))) g++;
    return g;
}

typedef struct task {
    const nl_case *c;
    nl_data data;
    answer want;
} task;

/* One rank's part of the tensor, as a rung gets it. */
typedef struct part {
    const task *whole;
    const nl_rung *rung;
    nl_ranks ranks;
    nl_case c;
    nl_data data; /* only its sizes */
    instance in;
} part;

/* Copies this rank's piece of an array or, if features are split, of each row of the array, between
 * `whole` and `own`. An array that is not split is copied whole. */
static void copy(const part *t, nl_arg a, char *whole, char *own, bool back) {
    const size_t all = t->whole->data.bytes[a], mine = t->data.bytes[a];
    const size_t rows = t->rung->features && nl_args[a].extent == NL_TENSOR ? t->c.problem.n : 1;
    if (mine < all) whole += all / rows / t->ranks.total * t->ranks.first;
    for (size_t i = 0; mine && i < rows; i++, whole += all / rows, own += mine / rows)
        memcpy(back ? whole : own, back ? own : whole, mine / rows);
}

/* Even: the ranks' numbers of segments differ by at most one. Uneven: higher ranks have more, and
 * the first of many ranks has none. Before a call, outputs are NaN on even ranks and numbers on odd
 * ranks, which exposes kernels that add to outputs or do not write them. */
static void part_make(part *t, const task *whole, const nl_rung *g, const nl_ranks *r, bool even) {
    *t = (part){.whole = whole, .rung = g, .ranks = *r, .c = *whole->c};
    nl_ranks *o = &t->ranks;
    size_t *axis = g->features ? &t->c.problem.c : &t->c.problem.n, p = (size_t)r->size;
    o->total = *axis, o->segments = *axis < SEGMENTS ? *axis : SEGMENTS;
    for (size_t k = 0; k <= p; k++) o->border[k] = o->segments * k * (even ? p : k) / (p * p);
    const size_t from = o->border[r->rank];
    o->own = o->border[r->rank + 1] - from, o->first = o->total * from / o->segments;
    for (size_t k = 0; k <= o->own; k++)
        o->begin[k] = o->total * (from + k) / o->segments - o->first;
    *axis = o->begin[o->own];

    for (nl_arg a = 0; a < NL_ARGS; a++)
        if (whole->data.bytes[a]) t->data.bytes[a] = nl_arg_bytes(&t->c.problem, a);
    const placement where = r->rank % 2 ? PLACE_START : PLACE_END;
    if (!instance_make(&t->c, &t->data, NULL, 0, where, &t->in)) MPI_Abort(MPI_COMM_WORLD, 1);
    if (r->rank % 2) t->in.unset = UNSET_NUMBERS, instance_fill(&t->in);
    for (nl_arg a = 0; a < NL_ARGS; a++)
        if (whole->data.input[a]) copy(t, a, whole->data.input[a], t->in.at[a], false);
}

static void part_call(const part *t, const nl_ranks *r) {
    const nl_forward_args f = instance_forward_args(&t->in);
    const nl_backward_args b = instance_backward_args(&t->in);
    if (t->rung->backward)
        t->rung->backward(r, &t->c.problem, &b);
    else
        t->rung->forward(r, &t->c.problem, &f);
}

/* Gathers the ranks' arrays, inputs too, in `whole`. Returns the name of an output that all ranks
 * have but that differs between ranks, or NULL. */
static const char *gather(const part *t, instance *whole) {
    unsigned differ = 0;
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!whole->at[a]) continue;
        const size_t all = whole->data->bytes[a];
        float *own = nl_zeros(all);
        copy(t, a, (char *)own, t->in.at[a], true);
        const bool statistic =
            nl_passes[t->c.problem.pass].writes & NL_BIT(a) && nl_args[a].extent != NL_TENSOR;
        for (size_t i = 0; statistic && i < all / sizeof *own; i++)
            if (isnan(own[i])) own[i] = NAN; /* the sign of a NaN means nothing */
        MPI_Allreduce(own, whole->at[a], (int)all, MPI_BYTE, MPI_BOR, t->ranks.comm);
        if (t->data.bytes[a] == all && memcmp(own, whole->at[a], all) != 0) differ |= NL_BIT(a);
        free(own);
    }
    MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_UNSIGNED, MPI_BOR, t->ranks.comm);
    return differ ? nl_args[__builtin_ctz(differ)].name : NULL;
}

/* The largest .lanes whose bound covers the longest chain of additions: one segment, and at most
 * segments - 1 merges. */
static int lanes_of(const part *t) {
    const size_t s = t->ranks.segments, positions = t->c.problem.s;
    const size_t chain = (t->ranks.total + s - 1) / s * positions + s - 1;
    const double terms = (double)(t->ranks.total * positions);
    int lanes = (int)s;
    while (lanes > 1 && terms / lanes + lanes < (double)chain) lanes--;
    return t->rung->impl.lanes ? t->rung->impl.lanes : lanes; /* set if the library sums */
}

typedef struct tally {
    unsigned long calls, failed, differ; /* differ: calls whose bits differ from the first call's */
} tally;

/* Checks a call. *bits: the hash of the first call's results; 0 before the first call. */
static void judge(const task *k, const nl_rung *g, const nl_ranks *r, bool even, uint64_t *bits,
                  tally *t) {
    part own;
    instance whole;
    nl_impl impl = g->impl;
    part_make(&own, k, g, r, even);
    impl.lanes = lanes_of(&own);
    if (!instance_make(k->c, &k->data, &impl, 0, PLACE_END, &whole)) MPI_Abort(MPI_COMM_WORLD, 1);
    part_call(&own, &own.ranks);
    const char *wrong = gather(&own, &whole);
    verdict v = r->rank ? (verdict){0} : outputs_check(&whole, &k->want);
    if (wrong) v = failure("%s is not the same on every rank", wrong);
    const uint64_t hash = instance_hash(&whole);
    const bool differs = *bits && *bits != hash;
    if (differs && r->order == &nl_order_tree) v = failure("%s", "other bits than on one rank");
    *bits = *bits ? *bits : hash;
    t->calls++, t->differ += differs, t->failed += v.outcome == OUTCOME_FAIL;
    if (r->rank == 0 && v.outcome == OUTCOME_FAIL)
        printf("FAIL %s %s ranks=%d order=%s split=%s: %s\n", g->impl.name, k->c->text, r->size,
               r->order->name, even ? "even" : "uneven", v.why);
    instance_free(&own.in);
    instance_free(&whole);
}

static void check_task(const task *k, nl_ranks *r, tally *tallies) {
    for (const nl_rung *const *g = rungs; *(g = taker(g, &k->c->problem)); g++)
        for (int o = 0; o < 2; o++) {
            uint64_t bits = 0;
            for (int i = 0; i < 2 * COUNTS; i++) {
                r[i / 2].order = orders[o];
                if (r[i / 2].comm == MPI_COMM_NULL) continue;
                judge(k, *g, &r[i / 2], i % 2 == 0, &bits, &tallies[o]);
            }
        }
}

/* Runs a rung on a part. If r is NULL, runs the library's kernel on the part. If t is NULL, runs a
 * reduction of `elements` sums. */
static void call(const nl_ranks *r, const part *t, size_t elements) {
    nl_job job;
    if (!r) {
        instance_call(&t->in, 1);
    } else if (t) {
        part_call(t, r);
    } else {
        nl_job_make(&job, r, &nl_sums, elements);
        nl_job_run(&job);
        nl_job_free(&job);
    }
}

/* Prints the median time of several rounds; the slowest rank sets the time of a round. */
static void point(const char *series, const char *panel, size_t x, const nl_ranks *r, const part *t,
                  size_t elements) {
    enum { ROUNDS = 11 };
    double ns[ROUNDS], round;
    int calls = 1;
    for (int k = -1; k < ROUNDS; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        round = clock_ns();
        for (int i = 0; i < calls; i++) call(r, t, elements);
        round = (clock_ns() - round) / calls;
        MPI_Allreduce(MPI_IN_PLACE, &round, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (k < 0) calls = round > 2e6 ? 1 : round < 4e3 ? 500 : (int)(2e6 / round);
        if (k >= 0) ns[k] = round;
    }
    round = stats_median(ns, ROUNDS, 0.95).median;
    if (world_rank == 0) printf("ranks,%s,%s,%zu,%.0f\n", panel, series, x, round);
}

/* Times three calls, each on this rank's part: the rung on all ranks together, the rung on every
 * rank alone, and the library's kernel. The first case also times the reductions. */
static void time_case(const task *k, const char *series, nl_ranks r, tally *t) {
    const nl_rung *g = *taker(rungs, &k->c->problem);
    const size_t n = k->c->problem.n;
    uint64_t bits = 0;
    part own;
    r.order = &nl_order_any;
    judge(k, g, &r, true, &bits, t);
    part_make(&own, k, g, &r, true);
    nl_ranks alone = own.ranks;
    alone.comm = MPI_COMM_SELF, alone.rank = 0, alone.size = 1;
    alone.border[0] = 0, alone.border[1] = alone.own;
    point(series, "together", n, &own.ranks, &own, 0);
    point(series, "alone", n, &alone, &own, 0);
    point(series, "library", n, NULL, &own, 0);
    for (size_t elements = 1; t->calls == 1 && elements <= 1 << 18; elements *= 4)
        for (int o = 0; o < 2; o++) {
            own.ranks.order = orders[o];
            point(series, orders[o]->name, elements * 4, &own.ranks, NULL, elements);
        }
    instance_free(&own.in);
}

static int end(int code, const char *text) {
    if (world_rank == 0 && *text) fprintf(code == 2 ? stderr : stdout, "%s\n", text);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Type_free(&nl_moments.type);
    MPI_Op_free(&nl_moments.op);
    MPI_Finalize();
    return code;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    nl_moments_make();
    const bool times = argc > 3 && strcmp(argv[1], "time") == 0;
    const bool checks = argc > 2 && strcmp(argv[1], "check") == 0;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) return end(0, usage);
    if (!(times || checks) || world_size > RANKS_MAX) return end(2, usage);
    char text[CASE_TEXT] = "";
    case_list cases = {0};
    for (int i = times ? 3 : 2; i < argc; i++) {
        const size_t length = strlen(argv[i]);
        const bool file = length > 4 && strcmp(argv[i] + length - 4, ".txt") == 0;
        if (!(file ? cases_add_file : cases_add)(&cases, argv[i], text, sizeof text))
            return end(2, text);
    }
    nl_ranks r[COUNTS]; /* groups of 1, 2, 3, 4 and all ranks; MPI_COMM_NULL: not a member */
    for (int k = 0; k < COUNTS; k++) {
        const int size = k < COUNTS - 1 ? k + 1 : world_size;
        const bool in = k == COUNTS - 1 || (size < world_size && world_rank < size);
        r[k] = (nl_ranks){.rank = world_rank, .size = size};
        MPI_Comm_split(MPI_COMM_WORLD, in ? 0 : MPI_UNDEFINED, world_rank, &r[k].comm);
    }
    tally tallies[2] = {0}, *tree = &tallies[0], *any = &tallies[1];
    for (size_t i = 0; i < cases.count; i++) {
        task k = {.c = &cases.items[i]};
        if (!*taker(rungs, &k.c->problem)) continue;
        if (!data_make(k.c, &k.data, text, sizeof text)) return end(2, text);
        if (!answer_make(k.c, &k.data, &k.want)) MPI_Abort(MPI_COMM_WORLD, 1);
        if (times)
            time_case(&k, argv[2], r[COUNTS - 1], tallies);
        else
            check_task(&k, r, tallies);
        answer_free(&k.want);
        data_free(&k.data);
    }
    const unsigned long calls = tree->calls + any->calls, failed = tree->failed + any->failed;
    if (!calls) return end(2, "no rung accepts any of these cases");
    if (checks)
        snprintf(text, sizeof text,
                 "%lu calls, %lu failed; other bits than on one rank: %lu in the tree, %lu in MPI",
                 calls, failed, tree->differ, any->differ);
    return end(failed > 0, text);
}
