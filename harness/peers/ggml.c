/* Row norms as graphs of ggml, which llama.cpp and whisper.cpp run. A graph is made once for each
 * problem. Each call plans and computes it (docs/peers.md). SPDX-License-Identifier: MIT */
#include "layer.h"
#include "peers/peers.h"
#include "registry.h"

#include <ggml-cpu.h>
#include <ggml.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { X, RESIDUAL, GAMMA, BETA, DY, DRESIDUAL, SUM, Y, DX, DGAMMA, XHAT, SCRATCH, BUFFERS };
enum { PLANS = 16, TENSORS = 16 };

typedef struct plan {
    nl_op op;
    nl_pass pass;
    size_t n, c;
    float eps;
    unsigned buffers; /* a bit for each buffer that the graph uses */
    struct ggml_context *context;
    struct ggml_cgraph *graph;
    struct ggml_tensor *tensors[TENSORS];
    int places[TENSORS], count; /* the buffer that each tensor uses */
} plan;

static struct ggml_tensor *place(plan *k, struct ggml_tensor *t, int buffer) {
    k->places[k->count] = buffer;
    return k->tensors[k->count++] = t;
}

static struct ggml_tensor *matrix(plan *k, int buffer) {
    return place(k, ggml_new_tensor_2d(k->context, GGML_TYPE_F32, (int64_t)k->c, (int64_t)k->n),
                 buffer);
}

static struct ggml_tensor *features(plan *k, int buffer) {
    return place(k, ggml_new_tensor_1d(k->context, GGML_TYPE_F32, (int64_t)k->c), buffer);
}

/* Each node after the norm overwrites its input, as with ggml's allocator. */
static void build_forward(plan *k) {
    struct ggml_context *g = k->context;
    struct ggml_tensor *t = matrix(k, X);
    if (k->buffers & NL_BIT(RESIDUAL)) t = place(k, ggml_add(g, t, matrix(k, RESIDUAL)), SUM);
    t = nl_layers[k->op].centred ? ggml_norm(g, t, k->eps) : ggml_rms_norm(g, t, k->eps);
    place(k, t, Y);
    if (k->buffers & NL_BIT(GAMMA)) t = place(k, ggml_mul(g, t, features(k, GAMMA)), Y);
    if (k->buffers & NL_BIT(BETA)) t = place(k, ggml_add(g, t, features(k, BETA)), Y);
    ggml_build_forward_expand(k->graph, t);
}

/* Builds the graph that ggml's differentiation would make of the norm and the multiplication.
 * dgamma is computed first, because dx may overwrite dy. */
static void build_backward(plan *k) {
    struct ggml_context *g = k->context;
    struct ggml_tensor *t = matrix(k, DY), *x = matrix(k, X);
    if (k->buffers & NL_BIT(DGAMMA)) {
        struct ggml_tensor *of_each = place(k, ggml_mul(g, t, matrix(k, XHAT)), SCRATCH);
        struct ggml_tensor *shape = ggml_new_tensor_1d(g, GGML_TYPE_F32, (int64_t)k->c);
        ggml_build_forward_expand(k->graph, place(k, ggml_repeat_back(g, of_each, shape), DGAMMA));
    }
    if (k->buffers & NL_BIT(GAMMA)) t = place(k, ggml_mul(g, t, features(k, GAMMA)), SCRATCH);
    t = ggml_rms_norm_back(g, t, x, k->eps);
    place(k, t, k->buffers & NL_BIT(DRESIDUAL) ? SCRATCH : DX);
    if (k->buffers & NL_BIT(DRESIDUAL)) t = place(k, ggml_add(g, t, matrix(k, DRESIDUAL)), DX);
    ggml_build_forward_expand(k->graph, t);
}

/* The cached plan. The first call, in verification (not timed), builds the graph. */
static plan *find_plan(const plan *wanted) {
    static plan plans[PLANS];
    static size_t next;
    for (plan *k = plans; k < plans + PLANS; k++)
        if (k->context && k->op == wanted->op && k->pass == wanted->pass && k->n == wanted->n &&
            k->c == wanted->c && k->eps == wanted->eps && k->buffers == wanted->buffers)
            return k;
    plan *k = &plans[next++ % PLANS];
    if (k->context) ggml_free(k->context);
    *k = *wanted;
    k->context =
        ggml_init((struct ggml_init_params){.mem_size = TENSORS * ggml_tensor_overhead() +
                                                        ggml_graph_overhead_custom(TENSORS, false),
                                            .no_alloc = true});
    if (!k->context) return NULL;
    k->graph = ggml_new_graph_custom(k->context, TENSORS, false);
    (k->pass == NL_FORWARD ? build_forward : build_backward)(k);
    return k;
}

/* The thread pool is kept between calls, as in llama.cpp. With poll = 0, the threads of a ggml
 * without OpenMP sleep between calls, instead of spinning while the next candidate is timed. */
static struct ggml_threadpool *pool_of(int threads) {
    static struct ggml_threadpool *pool;
    static int size;
    if (pool && size == threads) return pool;
    if (pool) ggml_threadpool_free(pool);
    struct ggml_threadpool_params params = ggml_threadpool_params_default(size = threads);
    params.poll = 0;
    return pool = ggml_threadpool_new(&params);
}

/* Returns *kept, enlarged to `wanted` floats if necessary. */
static float *keep(float **kept, size_t *size, size_t wanted) {
    if (*size < wanted) {
        free(*kept);
        *kept = malloc(wanted * sizeof **kept), *size = *kept ? wanted : 0;
    }
    return *kept;
}

static bool run(const nl_problem *p, nl_pass pass, const void *const buffers[BUFFERS],
                int threads) {
    static float *scratch;
    static uint8_t *work;
    static size_t size, work_size;
    plan wanted = {.op = p->op, .pass = pass, .n = p->n, .c = p->c, .eps = p->eps};
    for (int b = 0; b < BUFFERS; b++) wanted.buffers |= buffers[b] ? NL_BIT(b) : 0;
    plan *k = find_plan(&wanted);
    if (!k || !keep(&scratch, &size, p->n * p->c)) return false;
    for (int i = 0; i < k->count; i++) {
        const void *at = buffers[k->places[i]];
        k->tensors[i]->data = at ? (void *)at : scratch;
    }
    struct ggml_cplan cplan = ggml_graph_plan(k->graph, threads, pool_of(threads));
    if (cplan.work_size > work_size) {
        free(work);
        work = malloc(cplan.work_size), work_size = work ? cplan.work_size : 0;
    }
    cplan.work_data = work;
    return work_size >= cplan.work_size &&
           ggml_graph_compute(k->graph, &cplan) == GGML_STATUS_SUCCESS;
}

/* ggml returns no statistics, so these are computed here. */
static void add_statistics(const nl_problem *p, const nl_forward_args *a, const float *x) {
    for (size_t r = 0; r < p->n; r++, x += p->c) {
        double sum = 0, squares = 0;
        for (size_t i = 0; nl_layers[p->op].centred && i < p->c; i++) sum += x[i];
        const float mean = (float)(sum / (double)p->c);
        for (size_t i = 0; i < p->c; i++) squares += (double)(x[i] - mean) * (double)(x[i] - mean);
        if (a->mean) a->mean[r] = mean;
        if (a->rstd) a->rstd[r] = 1 / sqrtf((float)(squares / (double)p->c) + p->eps);
    }
}

static void forward_now(const nl_problem *p, const nl_forward_args *a, int threads) {
    static float *sum;
    static size_t size;
    float *total = a->residual ? a->residual_out : NULL;
    if (a->residual && !total && !(total = keep(&sum, &size, p->n * p->c))) return;
    const void *const buffers[BUFFERS] =
        {[X] = a->x, [RESIDUAL] = a->residual, [GAMMA] = a->gamma, [BETA] = a->beta, [SUM] = total,
         [Y] = a->y};
    const bool statistics = a->mean || a->rstd;
    if (statistics && !total) add_statistics(p, a, a->x); /* first: y may overwrite x */
    if (run(p, NL_FORWARD, buffers, threads) && statistics && total) add_statistics(p, a, total);
}

enum { SAMPLES = 64 };

static void sample(const nl_problem *p, const float *x, float *out) {
    for (size_t i = 0; i < SAMPLES; i++) out[i] = x[i * (p->n * p->c - 1) / (SAMPLES - 1)];
}

/* In training, forward leaves xhat in memory, so backward's time does not include computing xhat.
 * Caches xhat while all rstd and a sample of x stay the same. */
static const float *xhat_of(const nl_problem *p, const nl_backward_args *a, int threads) {
    static float *xhat, *rstd, samples[SAMPLES];
    static size_t size, rstd_size, n, c;
    static float eps;
    float now[SAMPLES];
    sample(p, a->x, now);
    if (n == p->n && c == p->c && eps == p->eps && memcmp(samples, now, sizeof now) == 0 &&
        memcmp(rstd, a->rstd, n * sizeof *rstd) == 0)
        return xhat;
    n = 0;
    if (!keep(&xhat, &size, p->n * p->c) || !keep(&rstd, &rstd_size, p->n) ||
        !run(p, NL_FORWARD, (const void *const[BUFFERS]){[X] = a->x, [Y] = xhat}, threads))
        return NULL;
    n = p->n, c = p->c, eps = p->eps;
    memcpy(rstd, a->rstd, n * sizeof *rstd), memcpy(samples, now, sizeof now);
    return xhat;
}

static void backward_now(const nl_problem *p, const nl_backward_args *a, int threads) {
    const float *xhat = a->dgamma ? xhat_of(p, a, threads) : NULL;
    if (a->dgamma && !xhat) return;
    run(p, NL_BACKWARD,
        (const void *const[BUFFERS]){[X] = a->x,
                                     [DY] = a->dy,
                                     [GAMMA] = a->gamma,
                                     [DRESIDUAL] = a->dresidual,
                                     [XHAT] = xhat,
                                     [DX] = a->dx,
                                     [DGAMMA] = a->dgamma},
        threads);
}

/* Only one caller at a time may use the plans and buffers. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    pthread_mutex_lock(&lock);
    forward_now(p, a, threads);
    pthread_mutex_unlock(&lock);
}

static void backward(const nl_problem *p, const nl_backward_args *a, int threads) {
    pthread_mutex_lock(&lock);
    backward_now(p, a, threads);
    pthread_mutex_unlock(&lock);
}

#define IMPL(layer, op, more)                                                                     \
    {                                                                                             \
        .name = "peer/ggml_" layer, .isa = "c", .ops = NL_BIT(op), .dtypes = NL_BIT(NL_F32),      \
        .passes = NL_BIT(NL_FORWARD) | more, .threaded = true, .method = NL_TWO_PASS, .lanes = 1, \
        .forward = forward, .backward = backward                                                  \
    }
static nl_impl impls[] = {IMPL("layernorm", NL_LAYERNORM, 0),
                          IMPL("rmsnorm", NL_RMSNORM, NL_BIT(NL_BACKWARD))};

void ggml_register(void (*note)(const char *text)) {
    static char about[80];
    if (!one_openmp_runtime("ggml", note)) return;
    snprintf(about, sizeof about, "ggml %s, graphs on the CPU", ggml_version());
    for (size_t i = 0; i < sizeof impls / sizeof *impls; i++) {
        impls[i].about = about;
        nl_registry_add(&impls[i]);
    }
}
