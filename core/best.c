/* Chooses an implementation: the first line of choices[] whose condition holds and whose rung
 * accepts the problem. The build fails if a line names a missing file.
 * SPDX-License-Identifier: MIT */
#include "best.h"
#include "dtype.h"
#include "isa.h"
#include "parallel.h"
#include "registry.h"
#include "strides.h"
#include "tuning.h"

#include <stdatomic.h>
#include <string.h>

enum { ROWS = NL_BIT(NL_LAYERNORM) | NL_BIT(NL_RMSNORM) | NL_BIT(NL_QWEN2_RMSNORM) };
enum { GATED = NL_BIT(NL_GATED_RMSNORM) | NL_BIT(NL_GATE_FIRST_RMSNORM) };
enum {
    ALWAYS,
    ROW_SHORT,
    FORKS,
    GAPS_FROM_MEMORY,
    IN_PLACE_FROM_MEMORY,
    STREAMS,
    STREAMS_ROWS,
    STREAMS_LINES,
    ROW_KEPT,
    KEPT_FAR,
    WIDE_FROM_MEMORY,
    ROW_ALONE,
    ONE_ROW_FITS,
    COLUMNS_BETWEEN,
    COLUMNS_OUTGROW
};

typedef struct choice {
    const char *name;
    unsigned ops, passes;
    int when; /* one of the conditions above */
} choice;

static const choice choices[] = {
    {"optimized/rows_threaded", ROWS, NL_BIT(NL_FORWARD), FORKS},
    {"optimized/rows_registers", ROWS, NL_BIT(NL_FORWARD), ROW_SHORT},
    {"optimized/rows_prefetch", ROWS, NL_BIT(NL_FORWARD), GAPS_FROM_MEMORY},
    {"optimized/rows_kept_streaming", ROWS, NL_BIT(NL_FORWARD), STREAMS_LINES},
    {"optimized/rows_streaming", ROWS, NL_BIT(NL_FORWARD), STREAMS_ROWS},
    {"optimized/rows_kept_prefetch", ROWS, NL_BIT(NL_FORWARD), KEPT_FAR},
    {"optimized/rows_prefetch", ROWS, NL_BIT(NL_FORWARD), WIDE_FROM_MEMORY},
    {"optimized/rows_prefetch", ROWS, NL_BIT(NL_FORWARD), IN_PLACE_FROM_MEMORY},
    {"optimized/rows_certified", ROWS, NL_BIT(NL_FORWARD), ROW_ALONE},
    {"optimized/rows_kept", ROWS, NL_BIT(NL_FORWARD), ALWAYS},
    {"optimized/rows_pipelined", ROWS, NL_BIT(NL_FORWARD), ALWAYS},
    {"optimized/rows_backward_threaded", ROWS, NL_BIT(NL_BACKWARD), FORKS},
    {"optimized/rows_backward_streaming", ROWS, NL_BIT(NL_BACKWARD), STREAMS_ROWS},
    {"optimized/rows_backward_registers", ROWS, NL_BIT(NL_BACKWARD), ALWAYS},
    {"optimized/rows_backward_kept_prefetch", ROWS, NL_BIT(NL_BACKWARD), KEPT_FAR},
    {"optimized/rows_backward_kept", ROWS, NL_BIT(NL_BACKWARD), ROW_KEPT},
    {"optimized/rows_backward_simd", ROWS, NL_BIT(NL_BACKWARD), ONE_ROW_FITS},
    {"optimized/rows_backward_blocks", ROWS, NL_BIT(NL_BACKWARD), ALWAYS},
    {"optimized/batch_threaded", NL_BIT(NL_BATCHNORM), NL_BIT(NL_FORWARD), FORKS},
    {"optimized/batch_streaming", NL_BIT(NL_BATCHNORM), NL_BIT(NL_FORWARD), STREAMS},
    {"optimized/batch_reverse", NL_BIT(NL_BATCHNORM), NL_BIT(NL_FORWARD), COLUMNS_BETWEEN},
    {"optimized/batch_backward_threaded", NL_BIT(NL_BATCHNORM), NL_BIT(NL_BACKWARD), FORKS},
    {"optimized/batch_backward_streaming", NL_BIT(NL_BATCHNORM), NL_BIT(NL_BACKWARD), STREAMS},
    {"optimized/batch_backward_reverse", NL_BIT(NL_BATCHNORM), NL_BIT(NL_BACKWARD),
     COLUMNS_OUTGROW},
    {"optimized/batch_inference_threaded", NL_BIT(NL_BATCHNORM), NL_BIT(NL_INFERENCE), FORKS},
    {"optimized/batch_inference_streaming", NL_BIT(NL_BATCHNORM), NL_BIT(NL_INFERENCE), STREAMS},
    {"optimized/batch_prefetch", NL_BIT(NL_BATCHNORM), NL_BIT(NL_FORWARD), ALWAYS},
    {"optimized/batch_backward_tiles", NL_BIT(NL_BATCHNORM), NL_BIT(NL_BACKWARD), ALWAYS},
    {"optimized/batch_inference", NL_BIT(NL_BATCHNORM), NL_BIT(NL_INFERENCE), ALWAYS},
    {"optimized/gated_simd", GATED, NL_BIT(NL_FORWARD), ALWAYS},
    {"optimized/gated_backward_simd", GATED, NL_BIT(NL_BACKWARD), ALWAYS},
    /* Choices for builds without an optimized/ rung that runs on this processor. */
    {"layernorm/refined", NL_BIT(NL_LAYERNORM), NL_BIT(NL_FORWARD), ALWAYS},
    {"layernorm/backward", NL_BIT(NL_LAYERNORM), NL_BIT(NL_BACKWARD), ALWAYS},
    {"rmsnorm/one_pass", ROWS, NL_BIT(NL_FORWARD), ALWAYS},
    {"rmsnorm/backward", ROWS, NL_BIT(NL_BACKWARD), ALWAYS},
    {"batchnorm/refined", NL_BIT(NL_BATCHNORM), NL_BIT(NL_FORWARD), ALWAYS},
    {"batchnorm/backward", NL_BIT(NL_BATCHNORM), NL_BIT(NL_BACKWARD), ALWAYS},
    {"batchnorm/inference", NL_BIT(NL_BATCHNORM), NL_BIT(NL_INFERENCE), ALWAYS},
    {"gated_rmsnorm/naive", GATED, NL_BIT(NL_FORWARD), ALWAYS},
    {"gated_rmsnorm/backward", GATED, NL_BIT(NL_BACKWARD), ALWAYS},
};
enum { CHOICES = sizeof choices / sizeof *choices };

static size_t of_kind(const nl_problem *p, size_t forward, size_t backward, size_t batch) {
    if (p->op == NL_BATCHNORM && p->pass != NL_INFERENCE) return batch;
    return p->pass == NL_BACKWARD ? backward : forward;
}

/* Is the problem so large that threads pay? */
static bool forks(const nl_problem *p, int threads) {
    if (threads <= 1) return false;
    const nl_tuning *t = nl_tuning_now();
    return p->n * p->c * p->s >= of_kind(p, t->fork_forward, t->fork_backward, t->fork_batch);
}

/* Are the rows so short that streaming costs more per row than it saves? */
static bool narrow(const nl_problem *p) {
    return p->op != NL_BATCHNORM && p->c <= 128;
}

/* Forward: are the runs of `inner` strided rows too short for streaming? At the end of a run,
 * streaming waits for the stores, and the next run has not been prefetched. */
static bool in_short_runs(const nl_problem *p) {
    enum { SHORT_RUN = 8 << 10 };
    return p->inner > 1 && p->pass == NL_FORWARD &&
           p->inner * p->c * nl_dtype_size(p->dtype) < SHORT_RUN && !nl_is_packed(p);
}

/* Bytes of y, or of dx. */
static size_t bytes_of(const nl_problem *p) {
    return p->n * p->c * p->s * nl_dtype_size(p->dtype);
}

/* Does a thread's share of the output bypass the caches? p->stores decides; if it is AUTO, sizes
 * decide. */
static bool streams(const nl_problem *p, int threads) {
    if (p->stores != NL_STORES_AUTO) return p->stores == NL_STORES_STREAMING;
    if (narrow(p) || in_short_runs(p)) return false;
    const nl_tuning *t = nl_tuning_now();
    const size_t bytes = threads == 1 ? bytes_of(p) : bytes_of(p) / (size_t)threads;
    const size_t backward = p->dtype == NL_F32 ? t->stream_backward : t->stream_bytes;
    return bytes >= of_kind(p, t->stream_bytes, backward, t->stream_batch);
}

/* The conditions below run at every call, even for one short row, so they divide only by
 * constants. */

/* Backward: does the first-level cache hold `rows` rows of x, dy and dx, with gamma, dgamma and
 * dbeta? */
static bool fit(const nl_problem *p, const nl_caches *k, size_t rows) {
    return p->c * (3 * rows * nl_dtype_size(p->dtype) + 3 * sizeof(float)) <= k->first;
}

/* Does y (or dx) take at least sixteenths / 16 of the last-level cache? Then some of x comes from
 * memory, since x (and dy) and other programs' data need room too (docs/optimized.md). */
static bool spills(const nl_problem *p, const nl_caches *k, size_t sixteenths) {
    return bytes_of(p) >= k->last / 16 * sixteenths;
}

/* Are x and y (backward: x, dy and dx) together larger than `caches` second-level caches? */
static bool outgrows(const nl_problem *p, const nl_caches *k, size_t caches) {
    return bytes_of(p) * (p->pass == NL_BACKWARD ? 3 : 2) > caches * k->second;
}

/* Do the tensors come from a last-level cache that is nearly as slow as memory (nl_caches)? */
static bool far(const nl_problem *p, const nl_caches *k) {
    return k->is_far && outgrows(p, k, 2);
}

/* Forward: bytes of one column in three rows of floats, gamma and (LayerNorm) beta. */
static size_t with_parameters(const nl_problem *p) {
    return (p->op == NL_LAYERNORM ? 5 : 4) * sizeof(float);
}

/* Do the data of the rungs with `kept` in their name fit in half of the first-level cache
 * (backward: two thirds)? The rest is for lines from memory. Forward: three rows and the
 * parameters, in float. Backward: xhat, g, gain, dgamma and dbeta in float, and x, dy and dx in 16
 * bits. */
static bool kept_fits(const nl_problem *p, const nl_caches *k) {
    if (p->pass == NL_FORWARD) return p->c * with_parameters(p) <= k->first / 2;
    return p->c * (5 * sizeof(float) + 6) <= k->first / 3 * 2;
}

/* Are the rows too short (a few cache lines) for prefetching to pay? */
static bool brief(const nl_problem *p) {
    return p->c < (p->pass == NL_BACKWARD ? 192 : 256);
}

/* Does pipelining (summing the next row while writing this row) lose? Never in 16 bits. In f32 it
 * loses if the layer has no mean and each of impl's accumulators adds fewer than three terms. If
 * the call is not in place, it also loses if some of x comes from memory, or if two rows of x, one
 * of y, gamma and beta fill the first-level cache. */
static bool each_row_alone(const nl_problem *p, const nl_caches *k, const nl_impl *impl) {
    if (p->dtype != NL_F32) return false;
    if (p->op != NL_LAYERNORM && p->c < 3 * (size_t)impl->lanes) return true;
    if (p->stores == NL_STORES_IN_PLACE) return false;
    return spills(p, k, 3) || p->c * with_parameters(p) >= k->first;
}

/* Forward in f32, in place: does x come from memory, or (rows of at most a page) from a far cache?
 * Then prefetching pays, since no lines of y compete with lines of x. */
static bool in_place_from_memory(const nl_problem *p, const nl_caches *k) {
    enum { PAGE = 4096 };
    return p->stores == NL_STORES_IN_PLACE && p->dtype == NL_F32 &&
           (spills(p, k, 12) || (far(p, k) && p->c * sizeof(float) <= PAGE));
}

/* Do adjacent rows of y (or dx) share a cache line (forward: half a line)? */
static bool share_lines(const nl_problem *p) {
    const nl_stride y = nl_stride_of(p, p->y_stride);
    return (p->c | y.row | y.outer) * nl_dtype_size(p->dtype) % (p->pass == NL_FORWARD ? 32 : 64) !=
           0;
}

/* Forward in 16 bits: does some of x come from memory, while three rows of floats, gamma and beta
 * leave less than two thirds of the first-level cache for lines of x? */
static bool wide_from_memory(const nl_problem *p, const nl_caches *k) {
    return p->dtype != NL_F32 && spills(p, k, 6) && p->c * 5 * sizeof(float) > k->first / 3;
}

/* Forward in 16 bits: do short rows come from memory, with gaps longer than half a row?
 * Hardware prefetchers do not follow such rows. */
static bool gaps_from_memory(const nl_problem *p, const nl_caches *k) {
    return nl_stride_of(p, p->x_stride).row > p->c + p->c / 2 && p->dtype != NL_F32 &&
           p->c <= 512 && p->stores != NL_STORES_STREAMING && spills(p, k, 3);
}

/* Backward: is one row at a time faster than four? Yes if the first-level cache holds one row but
 * not four. If it holds four, yes for f32 tensors that come partly from memory (four rows are too
 * many streams). */
static bool one_row_fits(const nl_problem *p, const nl_caches *k) {
    if (!fit(p, k, 1)) return false;
    return !fit(p, k, 4) || (p->dtype == NL_F32 && spills(p, k, 2));
}

/* Does streaming lose (docs/optimized.md)? It loses for 16-bit rows that share cache lines and are
 * short enough for rows_kept on AVX-512 (backward: half as long). In f32 it loses only in forward,
 * for short rows that share lines and have gaps between them: no line is written completely. */
static bool better_cached(const nl_problem *p) {
    if (p->stores == NL_STORES_STREAMING || !share_lines(p)) return false;
    const bool gaps = nl_stride_of(p, p->y_stride).row != p->c;
    if (p->dtype == NL_F32) return gaps && p->pass == NL_FORWARD && p->c <= 256;
    return p->c <= (p->pass == NL_BACKWARD ? 512 : 1024);
}

/* Are channels read as columns (SHORT in batch/batch.h) of tensors larger than the second-level
 * cache? Then a pass in reverse order begins with elements that are still cached. */
static bool columns_outgrow(const nl_problem *p, const nl_caches *k) {
    return p->s < 32 && outgrows(p, k, 1);
}

static bool holds(int when, const nl_problem *p, const nl_caches *k, bool fork, bool stream,
                  const nl_impl *impl) {
    const bool halves = p->dtype != NL_F32;
    switch (when) {
    case ROW_SHORT: /* six vectors (c_max); in f32 without a mean, four */
        return p->op == NL_LAYERNORM || halves || p->c <= impl->c_max / 6 * 4;
    case FORKS: return fork;
    case GAPS_FROM_MEMORY: return gaps_from_memory(p, k);
    case STREAMS: return stream;
    case STREAMS_ROWS: return stream && !better_cached(p);
    case STREAMS_LINES: return stream && !share_lines(p);
    case ROW_KEPT: return halves && p->c > 256 && kept_fits(p, k); /* shorter: 4 rows at a time */
    case KEPT_FAR: return halves && !brief(p) && far(p, k) && kept_fits(p, k);
    case IN_PLACE_FROM_MEMORY: return in_place_from_memory(p, k);
    case WIDE_FROM_MEMORY: return wide_from_memory(p, k);
    case ROW_ALONE: return each_row_alone(p, k, impl);
    case ONE_ROW_FITS: return one_row_fits(p, k);
    case COLUMNS_BETWEEN: return columns_outgrow(p, k) && !spills(p, k, 3);
    case COLUMNS_OUTGROW: return columns_outgrow(p, k);
    default: return true; /* ALWAYS */
    }
}

/* Looks up the implementation of a choice, once. isa NULL: the widest ISA that runs here. Rungs
 * outside optimized/ are plain C only. */
static const nl_impl *entry_of(size_t choice, const char *isa) {
    static const nl_impl *_Atomic found[1 + NL_ISAS_MAX][CHOICES];
    const nl_impl *_Atomic *at = &found[isa ? 1 + nl_isa_index(isa) : 0][choice];
    const nl_impl *impl = atomic_load_explicit(at, memory_order_relaxed);
    if (impl) return impl;
    const char *name = choices[choice].name;
    impl = nl_find(name, strncmp(name, "optimized/", 10) ? "c" : isa ? isa : nl_isa_best());
    atomic_store_explicit(at, impl, memory_order_relaxed);
    return impl;
}

static const nl_impl *choose(const nl_problem *p, bool fork, bool stream, const char *isa) {
    const nl_caches *caches = nl_caches_now();
    for (size_t i = 0; i < CHOICES; i++) {
        const choice *k = &choices[i];
        if (!(k->ops & NL_BIT(p->op)) || !(k->passes & NL_BIT(p->pass))) continue;
        const nl_impl *impl = entry_of(i, isa);
        if (impl && holds(k->when, p, caches, fork, stream, impl) && nl_accepts(impl, p))
            return impl;
    }
    return NULL;
}

const nl_impl *nl_best(const nl_problem *p, int threads) {
    return choose(p, forks(p, threads), streams(p, 1), NULL);
}

/* Does nl_best() choose impl only above the fork threshold, and is p below that threshold? */
static bool stays_on_one(const nl_impl *impl, const nl_problem *p, int threads) {
    for (size_t i = 0; i < CHOICES && !forks(p, threads); i++)
        if (choices[i].when == FORKS && strcmp(choices[i].name, impl->name) == 0) return true;
    return false;
}

/* The implementation for each thread of a threaded rung: the choice for one thread, on the rung's
 * ISA. In backward this choice must not depend on `threads`, because it decides the order of the
 * sums for dgamma. */
static const nl_impl *each_of(const nl_impl *impl, const nl_problem *p, int threads) {
    return choose(p, false, streams(p, p->pass == NL_BACKWARD ? 1 : threads), impl->isa);
}

void nl_make_plan(nl_plan *plan, const nl_impl *impl, const nl_problem *p, int threads) {
    const bool shared = p->op != NL_BATCHNORM && p->pass == NL_BACKWARD;
    *plan = (nl_plan){.threads = 1};
    if (!impl->threaded && !impl->streams && !impl->heeds_stores) return;
    plan->first_cache = nl_caches_now()->first;
    if (impl->threaded && threads > 1 && !stays_on_one(impl, p, threads))
        plan->threads = nl_team(threads);
    if (impl->heeds_stores) plan->streams = streams(p, shared ? 1 : plan->threads);
    if (!impl->threaded || p->op == NL_BATCHNORM) return;
    plan->each = each_of(impl, p, plan->threads);
    plan->pieces = p->n < (size_t)plan->threads && p->c > NL_ROW_PIECE;
}
