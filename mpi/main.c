/* Checks and times the rungs of this folder; every rank runs it.
 *     mpirun -n 8 normlab_openmpi check CASE|FILE.txt...    with 1, 2, 3, 4 and 8 ranks
 *     mpirun -n 2 normlab_openmpi time NAME CASE...         points of a study, under this name
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/stats.h"
#include "cases/case_list.h"
#include "ranks.h"
#include "verify/outputs.h"

#include <stdio.h>

static const nl_rung *const rungs[] = {
#define NL_RUNG_LISTED(name) &nl_rung_##name,
    NL_RUNGS(NL_RUNG_LISTED)};
enum { RUNGS = sizeof rungs / sizeof *rungs, RANKS_MAX = 64 };
static const nl_order *const orders[] = {&nl_order_tree, &nl_order_any};
static int world_rank, world_size;

/* Even: as many segments for each rank. Uneven: more and more, and with many ranks the first has
 * none. */
static void split(nl_ranks *r, size_t total, bool even, size_t *border) {
    r->total = total, r->segments = nl_segments_of(total), r->border = border;
    const size_t p = (size_t)r->size;
    for (size_t k = 0; k <= p; k++)
        border[k] = even ? r->segments * k / p : r->segments * k * k / (p * p);
}

/* Where a rank's part of an array lies: `outer` pieces of `bytes` bytes, `stride` apart. */
typedef struct layout {
    size_t outer, stride, offset, bytes;
} layout;

/* A case, and the part of this rank. */
typedef struct part {
    const nl_case *whole;
    nl_case c;
    nl_data data;
    instance in;
    bool features;
    size_t first; /* of the split axis */
} part;

static layout layout_of(const part *t, nl_arg a) {
    const nl_problem *w = &t->whole->problem, *p = &t->c.problem;
    const size_t all = nl_arg_bytes(w, a), own = nl_arg_bytes(p, a);
    if (t->features && nl_args[a].extent == NL_TENSOR) {
        const size_t element = nl_dtype_size(w->dtype);
        return (layout){w->n, w->c * element, t->first * element, p->c * element};
    }
    if (all == own) return (layout){1, all, 0, own};
    return (layout){1, all, t->first * (all / (t->features ? w->c : w->n)), own};
}

static void copy(const part *t, nl_arg a, char *whole, char *own, bool back) {
    const layout l = layout_of(t, a);
    for (size_t i = 0; i < l.outer; i++) {
        char *there = whole + i * l.stride + l.offset, *here = own + i * l.bytes;
        memcpy(back ? there : here, back ? here : there, l.bytes);
    }
}

static void part_make(part *t, const nl_case *c, const nl_data *data, const nl_rung *g,
                      const nl_ranks *r, placement where) {
    *t = (part){.whole = c, .c = *c, .features = g->features};
    t->first = nl_segment(r, r->border[r->rank]);
    const size_t length = nl_own_begin(r, nl_own(r));
    *(g->features ? &t->c.problem.c : &t->c.problem.n) = length;
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!data->bytes[a]) continue;
        t->data.bytes[a] = nl_arg_bytes(&t->c.problem, a);
        if (!data->input[a]) continue;
        t->data.input[a] = nl_ranks_alloc(t->data.bytes[a]);
        copy(t, a, data->input[a], t->data.input[a], false);
    }
    if (!instance_make(&t->c, &t->data, NULL, 0, where, &t->in)) MPI_Abort(MPI_COMM_WORLD, 1);
    if (where == PLACE_START) t->in.unset = UNSET_NUMBERS, instance_fill(&t->in);
}

static void part_call(const part *t, const nl_rung *g, const nl_ranks *r) {
    void *const *at = t->in.at;
    if (g->backward) {
        const nl_backward_args a = {.x = at[NL_X],
                                    .dy = at[NL_DY],
                                    .dresidual = at[NL_RESIDUAL],
                                    .gamma = at[NL_GAMMA],
                                    .mean = at[NL_MEAN],
                                    .rstd = at[NL_RSTD],
                                    .dx = at[NL_DX],
                                    .dgamma = at[NL_DGAMMA],
                                    .dbeta = at[NL_DBETA]};
        g->backward(r, &t->c.problem, &a);
        return;
    }
    const nl_forward_args a = {.x = at[NL_X],
                               .residual = at[NL_RESIDUAL],
                               .gamma = at[NL_GAMMA],
                               .beta = at[NL_BETA],
                               .y = at[NL_Y],
                               .residual_out = at[NL_RESIDUAL_OUT],
                               .mean = at[NL_MEAN],
                               .rstd = at[NL_RSTD],
                               .running_mean = at[NL_RUNNING_MEAN],
                               .running_var = at[NL_RUNNING_VAR]};
    g->forward(r, &t->c.problem, &a);
}

static void part_free(part *t) {
    instance_free(&t->in);
    data_free(&t->data);
}

/* Puts the ranks' outputs together in `whole`, on rank 0. An output that every rank has must be the
 * same on all. Returns the name of what is not, or of an input that was written; NULL: none. */
static const char *gather(const part *t, const nl_ranks *r, instance *whole) {
    const char *wrong = NULL;
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (!whole->at[a]) continue;
        const size_t bytes = t->data.bytes[a], all = nl_arg_bytes(&t->whole->problem, a);
        int changed = bytes && t->data.input[a] && !instance_consumes(&t->in, a) &&
                      memcmp(t->in.at[a], t->data.input[a], bytes) != 0;
        MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, r->comm);
        if (changed) wrong = nl_args[a].name;
        if (!(nl_passes[t->c.problem.pass].writes & NL_BIT(a))) continue;
        char *own = nl_ranks_alloc(all), *any = nl_ranks_alloc(all), *each = nl_ranks_alloc(all);
        copy(t, a, own, t->in.at[a], true);
        MPI_Allreduce(own, any, (int)all, MPI_BYTE, MPI_BOR, r->comm);
        MPI_Allreduce(own, each, (int)all, MPI_BYTE, MPI_BAND, r->comm);
        const layout l = layout_of(t, a);
        int shared = l.bytes == l.stride;
        MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, r->comm);
        if (shared && memcmp(any, each, all) != 0) wrong = nl_args[a].name;
        memcpy(whole->at[a], any, all);
        free(own), free(any), free(each);
    }
    return wrong;
}

/* The most .lanes with which the bound allows for this chain: the values of the longest segment,
 * and a merge of every segment with the next. */
static int lanes_of(const nl_rung *g, const nl_problem *p) {
    if (g->impl.lanes) return g->impl.lanes; /* its own sums, by the library */
    const size_t total = g->features ? p->c : p->n, s = nl_segments_of(total), m = total * p->s;
    const size_t chain = (total + s - 1) / s * p->s + s - 1;
    int lanes = (int)s;
    while (lanes > 1 && (double)m / lanes + lanes < (double)chain) lanes--;
    return lanes;
}

typedef struct tally {
    unsigned long calls, failed, bits; /* bits: cases in which `any` depends on the ranks */
    double error, bound;               /* the largest error of its bound */
} tally;

static void judge(const nl_case *c, const nl_data *data, const answer *want, const nl_rung *g,
                  const nl_ranks *r, const char *how, uint64_t *bits, tally *t) {
    nl_impl impl = g->impl;
    impl.lanes = lanes_of(g, &c->problem);
    instance whole;
    part own;
    if (!instance_make(c, data, &impl, 0, PLACE_END, &whole)) MPI_Abort(MPI_COMM_WORLD, 1);
    part_make(&own, c, data, g, r, r->rank % 2 ? PLACE_START : PLACE_END);
    part_call(&own, g, r);
    const char *wrong = gather(&own, r, &whole);
    part_free(&own);
    if (r->rank == 0) {
        verdict v = outputs_check(&whole, want);
        if (wrong) v = failure("%s differs from rank to rank, or is an input and changed", wrong);
        const uint64_t hash = instance_hash(&whole);
        if (*bits && *bits != hash && r->order == &nl_order_tree)
            v = failure("%s", "other bits than with one rank");
        t->bits += *bits && *bits != hash;
        *bits = *bits ? *bits : hash;
        t->calls++;
        if (v.outcome == OUTCOME_OK && v.error_u * t->bound >= t->error * v.bound_u)
            t->error = v.error_u, t->bound = v.bound_u;
        if (v.outcome == OUTCOME_FAIL) {
            t->failed++;
            printf("FAIL %s %s ranks=%d %s: %s\n", g->impl.name, c->text, r->size, how, v.why);
        }
    }
    instance_free(&whole);
}

/* The first `size` ranks, or on the others MPI_COMM_NULL. */
static nl_ranks ranks_make(int size, const nl_order *order) {
    nl_ranks r = {.rank = world_rank, .size = size, .order = order};
    MPI_Comm_split(MPI_COMM_WORLD, world_rank < size ? 0 : MPI_UNDEFINED, world_rank, &r.comm);
    return r;
}

static bool takes(const nl_rung *g, const nl_problem *p) {
    return nl_accepts(&g->impl, p) && p->n > 0;
}

static int check(const case_list *cases) {
    static const int counts[] = {1, 2, 3, 4, 8};
    tally tallies[RUNGS][2] = {0};
    char error[CASE_TEXT];
    nl_ranks r[sizeof counts / sizeof *counts];
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) r[k] = ranks_make(counts[k], NULL);
    for (size_t i = 0; i < cases->count; i++) {
        const nl_case *c = &cases->items[i];
        nl_data data;
        answer want;
        if (!data_make(c, &data, error, sizeof error) || !answer_make(c, &data, &want))
            MPI_Abort(MPI_COMM_WORLD, 1);
        for (int g = 0; g < RUNGS; g++)
            for (int o = 0; takes(rungs[g], &c->problem) && o < 2; o++) {
                uint64_t bits = 0;
                for (size_t k = 0; k < 2 * sizeof counts / sizeof *counts; k++) {
                    size_t border[RANKS_MAX + 1];
                    nl_ranks *of = &r[k / 2];
                    char how[64];
                    snprintf(how, sizeof how, "order=%s split=%s", orders[o]->name,
                             k % 2 ? "uneven" : "even");
                    of->order = orders[o];
                    split(of, rungs[g]->features ? c->problem.c : c->problem.n, k % 2 == 0, border);
                    if (of->comm != MPI_COMM_NULL && of->size <= world_size)
                        judge(c, &data, &want, rungs[g], of, how, &bits, &tallies[g][o]);
                }
            }
        answer_free(&want);
        data_free(&data);
    }
    unsigned long calls = 0, failed = 0;
    for (int g = 0; world_rank == 0 && g < RUNGS; g++)
        for (int o = 0; o < 2; o++) {
            const tally *t = &tallies[g][o];
            printf("%-21s order=%-4s %5lu calls, %lu failed; largest error %.3g units of %.3g; %lu "
                   "with other bits\n",
                   rungs[g]->impl.name, orders[o]->name, t->calls, t->failed, t->error, t->bound,
                   t->bits);
            calls += t->calls, failed += t->failed;
            if (o == 0 && t->calls == 0) failed++; /* nothing was compared */
        }
    if (world_rank == 0) printf("%lu calls, %lu failed\n", calls, failed);
    return failed ? 1 : 0;
}

/* What is timed: a rung, a reduction of `elements` sums, or without either the library's own kernel
 * on this rank's part. */
typedef struct timing {
    const part *own;
    const nl_rung *rung;
    const nl_ranks *ranks;
    size_t elements;
} timing;

static void call(const timing *t) {
    nl_job job;
    if (t->rung) {
        part_call(t->own, t->rung, t->ranks);
    } else if (t->elements) {
        nl_job_make(&job, t->ranks, &nl_sums, t->elements);
        nl_job_run(&job);
        nl_job_free(&job);
    } else {
        instance_call(&t->own->in, 1);
    }
}

/* The median of some rounds; a round is as slow as its slowest rank. */
static void point(const char *study, const char *panel, size_t x, timing t) {
    enum { ROUNDS = 21 };
    double ns[ROUNDS], round;
    int calls = 1;
    for (int k = -1; k < ROUNDS; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        round = clock_ns();
        for (int i = 0; i < calls; i++) call(&t);
        round = (clock_ns() - round) / calls;
        MPI_Allreduce(MPI_IN_PLACE, &round, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (k < 0)
            calls = round > 2e6 ? 1 : round < 4e3 ? 500 : (int)(2e6 / round);
        else
            ns[k] = round;
    }
    if (world_rank == 0)
        printf("ranks,%s,%s,%zu,%.0f\n", panel, study, x, stats_median(ns, ROUNDS, 0.95).median);
}

static int time_all(const char *study, const case_list *cases) {
    size_t border[RANKS_MAX + 1];
    char error[CASE_TEXT], panel[80];
    nl_ranks r = ranks_make(world_size, NULL), alone = r;
    alone.comm = MPI_COMM_SELF, alone.rank = 0, alone.size = 1;
    tally t = {0};
    for (int o = 0; o < 2; o++)
        for (size_t elements = 1; elements <= 1 << 20; elements *= 4) {
            r.order = orders[o];
            split(&r, (size_t)world_size, true, border);
            snprintf(panel, sizeof panel, "allreduce %s", r.order->name);
            point(study, panel, elements * sizeof(float),
                  (timing){.ranks = &r, .elements = elements});
        }
    for (size_t i = 0; i < cases->count; i++) {
        const nl_case *c = &cases->items[i];
        nl_data data;
        answer want;
        if (!data_make(c, &data, error, sizeof error) || !answer_make(c, &data, &want))
            MPI_Abort(MPI_COMM_WORLD, 1);
        for (int g = 0; g < RUNGS; g++)
            for (int o = 0; takes(rungs[g], &c->problem) && o < 2; o++) {
                uint64_t bits = 0;
                r.order = alone.order = orders[o];
                split(&r, rungs[g]->features ? c->problem.c : c->problem.n, true, border);
                judge(c, &data, &want, rungs[g], &r, "timed", &bits, &t);
                part own;
                part_make(&own, c, &data, rungs[g], &r, PLACE_END);
                snprintf(panel, sizeof panel, "%s %s", rungs[g]->impl.name, orders[o]->name);
                point(study, panel, c->problem.n, (timing){&own, rungs[g], &r, 0});
                const nl_problem *p = &own.c.problem;
                split(&alone, rungs[g]->features ? p->c : p->n, true, border);
                snprintf(panel, sizeof panel, "%s alone", rungs[g]->impl.name);
                if (o) point(study, panel, c->problem.n, (timing){&own, rungs[g], &alone, 0});
                if (o && g == 0) point(study, "library", c->problem.n, (timing){.own = &own});
                part_free(&own);
            }
        answer_free(&want);
        data_free(&data);
    }
    return t.failed ? 1 : 0;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    const bool checks = argc > 2 && strcmp(argv[1], "check") == 0;
    const bool times = argc > 2 && strcmp(argv[1], "time") == 0;
    const bool usable = (checks || times) && world_size <= RANKS_MAX;
    if (!usable && world_rank == 0)
        fprintf(stderr,
                "usage: mpirun -n RANKS normlab_MPI check CASE|FILE.txt... | time NAME "
                "CASE|FILE.txt...\n"
                "with at most %d ranks\n",
                RANKS_MAX);
    case_list cases = {0};
    char error[CASE_TEXT];
    for (int i = times ? 3 : 2; usable && i < argc; i++) {
        const size_t length = strlen(argv[i]);
        const bool file = length > 4 && strcmp(argv[i] + length - 4, ".txt") == 0;
        if ((file ? cases_add_file : cases_add)(&cases, argv[i], error, sizeof error)) continue;
        if (world_rank == 0) fprintf(stderr, "%s\n", error);
        MPI_Finalize();
        return 2;
    }
    int code = !usable ? 2 : checks ? check(&cases) : time_all(argv[2], &cases);
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return code;
}
