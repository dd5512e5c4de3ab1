/* idea   Each thread gets runs of rows, and processes each run with the rung that nl_best() would
 *        choose on one thread. At the end the dgamma and dbeta of all runs are added.
 * gain   Uses the cache bandwidth of all cores. Runs depend on n alone and are added from first to
 *        last, so the bits are the same with any number of threads.
 * fails  Waking threads takes microseconds, twice. Eight rows, however long, are only one run.
 * SPDX-License-Identifier: MIT */
#include "parallel.h"
#include "rows/backward_sums.h"

/* The number of columns that a thread adds up at a time, a multiple of VLEN on every ISA. */
enum { COLUMNS = 64 };

enum { RUN_MIN = 8, RUN_MAX = 64, RUNS_MAX = 64 };

typedef struct job {
    const nl_problem *p;
    const nl_backward_args *a;
    size_t rows, runs; /* rows per run (the last may have fewer), and the number of runs */
    size_t stride;     /* size of one run's dgamma or dbeta, in floats */
    float *sums;       /* [runs][2][stride] */
    char *scratch;     /* scratch for plan->each, one per run */
    size_t scratch_bytes;
} job;

/* A run has at least 8 rows, so that adding up the runs costs little. It has up to 64 rows if there
 * are then 16 runs or more, and over 64 only to limit the number of runs to 64. */
static size_t rows_of_run(size_t n) {
    const size_t few = (n + 15) / 16, most = few < RUN_MAX ? few : RUN_MAX;
    const size_t least = (n + RUNS_MAX - 1) / RUNS_MAX;
    const size_t rows = most < RUN_MIN ? RUN_MIN : most < least ? least : most;
    return (rows + RUN_MIN - 1) / RUN_MIN * RUN_MIN;
}

/* Does not depend on the tuning, because every plan->each needs the same scratch. */
static job job_of(const nl_problem *p, const nl_backward_args *a) {
    job j = {.p = p, .a = a, .rows = rows_of_run(p->n)};
    nl_problem run = *p;
    run.n = j.rows < p->n ? j.rows : p->n;
    j.runs = (p->n + j.rows - 1) / j.rows;
    j.stride = (p->c + COLUMNS - 1) / COLUMNS * COLUMNS;
    j.scratch_bytes = (rows_backward_scratch(&run) + 63) / 64 * 64;
    return j;
}

static void some_runs(void *context, size_t begin, size_t end) {
    const job *j = context;
    const bool centred = nl_layers[j->p->op].centred;
    for (size_t i = begin; i < end; i++) {
        const size_t row = i * j->rows, left = j->p->n - row;
        nl_problem p = *j->p;
        nl_backward_args a = *j->a;
        nl_plan plan;
        float *const dgamma = j->sums + 2 * i * j->stride;
        nl_skip_backward_rows(&p, &a, &plan, row);
        p.n = left < j->rows ? left : j->rows;
        a.dgamma = dgamma, a.dbeta = centred ? dgamma + j->stride : NULL;
        a.scratch = j->scratch + begin * j->scratch_bytes;
        plan.each->backward(&p, &a, 1);
    }
}

static void add_up(const job *j, float *out, size_t which, size_t i) {
    const size_t k = j->p->c - i < VLEN ? j->p->c - i : VLEN;
    vf sum = vset(0), error = vset(0);
    for (size_t run = 0; out && run < j->runs; run++)
        add_exactly(&sum, &error, vload(NL_F32, j->sums + (2 * run + which) * j->stride, i, k));
    if (out) vstore(NL_F32, out, i, k, corrected(sum, error));
}

static void some_columns(void *context, size_t begin, size_t end) {
    const job *j = context;
    const size_t stop = end * COLUMNS < j->p->c ? end * COLUMNS : j->p->c;
    for (size_t i = begin * COLUMNS; i < stop; i += VLEN) {
        add_up(j, j->a->dgamma, 0, i);
        add_up(j, j->a->dbeta, 1, i);
    }
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    job j = job_of(p, a);
    if (j.runs == 1) {
        a->plan->each->backward(p, a, 1);
        return;
    }
    j.scratch = a->scratch;
    j.sums = (float *)(j.scratch + j.runs * j.scratch_bytes);
    nl_parallel_for(j.runs, threads, some_runs, &j);
    nl_parallel_for(j.stride / COLUMNS, threads, some_columns, &j);
}

static size_t scratch(const nl_problem *p) {
    const job j = job_of(p, NULL);
    if (j.runs == 1) return j.scratch_bytes;
    return j.runs * (j.scratch_bytes + 2 * j.stride * sizeof(float));
}

static const nl_threshold thresholds[] = {{NL_OF_N, RUN_MIN},
                                          {NL_OF_N, 16 * RUN_MIN},
                                          {NL_OF_N, 16 * RUN_MAX},
                                          {NL_OF_N, RUN_MAX *RUNS_MAX},
                                          {0}};

NL_IMPL(.about = "runs of rows among threads, the same bits with any number", .ops = ROW_NORMS,
        .passes = NL_BIT(NL_BACKWARD), .dtypes = NL_VEC_DTYPES, .thresholds = thresholds,
        .threaded = true, .heeds_stores = true, .strided = true, .method = NL_TWO_PASS,
        .lanes = VLEN, .backward = backward, .scratch = scratch);
