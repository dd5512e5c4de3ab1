/* Which share of a model's step is the norm's, and what does RMSNorm save? Whole steps with
 * LayerNorm and with RMSNorm take turns on the same memory. Norms are timed inside the step, so the
 * matrix products decide what the caches contain. SPDX-License-Identifier: MIT */
#include "models/blas.h"
#include "base/clock.h"
#include "machine/kernel_files.h"
#include "base/random.h"
#include "models/step.h"
#include "studies/study.h"

#include <math.h>

static const step_shape shapes[] = {
    {"GPT-2 small block", 768, 12, 12, 3072, false},
    {"Qwen2-0.5B block", 896, 14, 2, 4864, true},
    {"Llama-7B block", 4096, 32, 32, 11008, true},
    {"GRU of 1024", 1024, 0, 0, 0, false},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, TOKENS = 128 };

/* The steps: one token after tokens in the cache, a prompt, and a training step. A GRU's rows
 * are its batch. */
static const struct mode {
    const char *name;
    size_t rows, past;
    bool training;
} modes[] = {
    {"forward", 1, TOKENS - 1, false},
    {"forward", TOKENS, 0, false},
    {"forward and backward", TOKENS / 2, 0, true},
};
enum { MODES = sizeof modes / sizeof *modes };

/* Turns of a round: LayerNorm, LayerNorm again, RMSNorm; in forward also both layers unfused. */
enum { LAYER, AGAIN, ROOT, LAYER_UNFUSED, ROOT_UNFUSED, TURNS };
enum { MAX_ROUNDS = 400, FEWEST_ROUNDS = 6 };

typedef struct turn {
    double step, norm; /* ns */
} turn;

static turn one(step *s, size_t which) {
    s->op = which == ROOT || which == ROOT_UNFUSED ? NL_RMSNORM : NL_LAYERNORM;
    s->unfused = which >= LAYER_UNFUSED, s->norm_ns = 0;
    double start = clock_ns();
    step_forward(s);
    if (s->training) step_backward(s);
    return (turn){clock_ns() - start, s->norm_ns};
}

/* A value that is computed from turn b of a round, or from turns a and b. */
typedef enum quantity { SHARE, SAVED_IN_NORMS, SAVED, MILLISECONDS } quantity;

static const struct panel {
    const char *name;
    quantity what;
    size_t a, b;
} panels[] = {
    {"share of LayerNorm, %", SHARE, 0, LAYER},
    {"share of RMSNorm, %", SHARE, 0, ROOT},
    {"saved in the norms, %", SAVED_IN_NORMS, LAYER, ROOT},
    {"saved of the step, %", SAVED, LAYER, ROOT},
    {"LayerNorm against itself, %", SAVED, LAYER, AGAIN},
    {"step with LayerNorm, ms", MILLISECONDS, 0, LAYER},
    {"share of LayerNorm, unfused, %", SHARE, 0, LAYER_UNFUSED},
    {"share of RMSNorm, unfused, %", SHARE, 0, ROOT_UNFUSED},
    {"saved in the norms, unfused, %", SAVED_IN_NORMS, LAYER_UNFUSED, ROOT_UNFUSED},
    {"saved of the step, unfused, %", SAVED, LAYER_UNFUSED, ROOT_UNFUSED},
};
enum { PANELS = sizeof panels / sizeof *panels };

static double value(const turn *t, const struct panel *p) {
    turn a = t[p->a], b = t[p->b];
    switch (p->what) {
    case SHARE: return 100 * b.norm / b.step;
    case SAVED_IN_NORMS: return 100 * (a.norm - b.norm) / a.step;
    case SAVED: return 100 * (1 - b.step / a.step);
    case MILLISECONDS: break;
    }
    return b.step / 1e6;
}

static void points(study_out *o, const char *series, size_t rows, const turn (*all)[TURNS],
                   size_t n, size_t turns) {
    for (size_t i = 0; i < PANELS && panels[i].b < turns; i++) {
        double v[MAX_ROUNDS];
        for (size_t r = 0; r < n; r++) v[r] = value(all[r], &panels[i]);
        study_interval(o, panels[i].name, series, (double)rows, stats_median(v, n, 0.95));
    }
}

static bool fits(size_t bytes) {
    double kib;
    if (!kernel_number("/proc/meminfo", "MemAvailable", &kib)) return true;
    return (double)bytes < 0.8 * kib * 1024;
}

static bool measure_one(study_out *o, const step_shape *shape, const struct mode *m, size_t rows,
                        double seconds) {
    static turn all[MAX_ROUNDS][TURNS];
    char series[80];
    step s;
    snprintf(series, sizeof series, "%s, %s", shape->name, m->name);
    size_t bytes = step_bytes(shape, rows, m->past, m->training);
    if (!fits(bytes) || !step_make(&s, shape, rows, m->past, m->training)) {
        return study_note(o,
                          "normlab: NOT MEASURED: %s of %zu rows needs %.1f GiB of "
                          "free memory",
                          series, rows, (double)bytes / 0x1p30);
    }
    size_t n = 0, turns = m->training ? LAYER_UNFUSED : TURNS;
    for (size_t which = AGAIN; which < turns; which++) one(&s, which);
    double start = clock_ns();
    while (n < MAX_ROUNDS && (n < FEWEST_ROUNDS || clock_ns() - start < 1e9 * seconds)) {
        uint32_t word[4];
        random_words(7, n, word);
        for (size_t k = 0; k < turns; k++) {
            size_t which = (word[0] % turns + (word[1] % 2 ? k : turns - k)) % turns;
            all[n][which] = one(&s, which);
        }
        n++;
    }
    bool sound = isfinite((double)s.y[0]);
    step_free(&s);
    if (sound) points(o, series, rows, all, n, turns);
    return sound;
}

static bool run(study_out *o, bool quick) {
    size_t done = 0, measured = 0;
    const char *why;
    if (!blas_open(&why)) return study_note(o, "normlab: %s", why);
    study_point(o, "matrix products, threads", blas_version(), 0, 1);
    for (size_t i = 0; i < SHAPES; i++)
        for (size_t k = 0; k < MODES; k++) {
            study_progress(o, done++, SHAPES * MODES, shapes[i].name);
            if (quick && shapes[i].width > 1024) continue;
            size_t rows = quick ? (modes[k].rows + 3) / 4 : modes[k].rows;
            measured += measure_one(o, &shapes[i], &modes[k], rows, quick ? 0.1 : 0.35);
        }
    return measured > 0;
}

const study study_model_step = {"model_step",
                                "How much of a model's step is norm, and what does RMSNorm save?",
                                run};
