/* What of a norm does the work: subtracting the mean or dividing by the size? A network learns to
 * read digits with both (LayerNorm), the division alone (RMSNorm), the subtraction alone, and
 * neither, from the same weights and batches, with several seeds.
 * SPDX-License-Identifier: MIT */
#include "models/mlp.h"
#include "base/random.h"
#include "studies/study.h"

#include <math.h>
#include <stdlib.h>

enum {
    SIDE = 12,
    INPUTS = SIDE * SIDE,
    DIGITS = 10,
    BATCH = 32,
    LEARNT = 2048,
    HELD_OUT = 256,
    SEEDS = 5
};

static const char *const names[MLP_NORMS] = {"nothing", "recentre", "rescale", "full"};
static const double rates[] = {0.003, 0.01, 0.03, 0.1};
enum { RATES = sizeof rates / sizeof *rates };

/* 3 x 5 points, an octal digit for each row. */
static const unsigned short glyphs[DIGITS] = {075557, 026227, 071747, 071717, 055711,
                                              074717, 074757, 071122, 075757, 075717};

typedef struct pictures {
    float *x;
    unsigned char *labels;
} pictures;

/* Draws picture i, which depends on i alone: a digit at twice its size, at a random place on 12 x
 * 12 points, with random contrast, brightness and noise. */
static void draw(float *x, unsigned char *label, size_t i) {
    uint32_t at[4];
    random_words(1, i, at);
    *label = (unsigned char)(at[0] % DIGITS);
    size_t left = at[1] % (SIDE - 6 + 1), top = at[2] % (SIDE - 10 + 1);
    double contrast = 0.5 + 1.5 * random_uniform(2, i), brightness = 2 * random_uniform(3, i) - 1;
    for (size_t r = 0; r < SIDE; r++)
        for (size_t c = 0; c < SIDE; c++) {
            bool inside = r >= top && r < top + 10 && c >= left && c < left + 6;
            size_t point = inside ? 14 - ((r - top) / 2 * 3 + (c - left) / 2) : 0;
            double ink = inside && glyphs[*label] >> point & 1;
            double noise = 0.3 * random_normal(4, i * INPUTS + r * SIDE + c);
            x[r * SIDE + c] = (float)(brightness + contrast * (ink + noise));
        }
}

/* Trains one network; reports the loss and the share of errors on held-out pictures. */
static bool train(study_out *o, const pictures *all, mlp *net, double rate, unsigned seed,
                  size_t steps) {
    char panel[40], series[40];
    snprintf(panel, sizeof panel, "loss, rate %g", rate);
    snprintf(series, sizeof series, "%s, seed %u", names[net->norm], seed);
    if (!mlp_make(net, seed)) return false;
    size_t wrong = 0, step = 0;
    const size_t test = LEARNT;
    bool sound = true;
    for (size_t show = 0; sound; step++) {
        if (step >= show || step == steps) {
            double loss =
                mlp_loss(net, HELD_OUT, all->x + test * INPUTS, all->labels + test, &wrong);
            sound = isfinite(loss);
            if (sound) study_point(o, panel, series, (double)step, loss);
            show = step + 1 + step / 6; /* evenly on a logarithmic axis, nearly */
        }
        if (step == steps || !sound) break;
        uint32_t at[4];
        random_words(100 + seed, step, at);
        size_t first = at[0] % (LEARNT - BATCH + 1);
        mlp_gradient(net, BATCH, all->x + first * INPUTS, all->labels + first);
        mlp_step(net, (float)rate, 0.9f);
    }
    snprintf(panel, sizeof panel, "errors after %zu steps", steps);
    study_point(o, panel, series, rate, sound ? (double)wrong / HELD_OUT : 1);
    if (!sound) study_point(o, "came apart", series, rate, (double)step);
    mlp_free(net);
    return true;
}

static bool run(study_out *o, bool quick) {
    const size_t n = LEARNT + HELD_OUT, seeds = quick ? 2 : SEEDS, steps = quick ? 60 : 700;
    const size_t total = RATES * seeds * MLP_NORMS;
    pictures all = {malloc(n * INPUTS * sizeof *all.x), malloc(n)};
    bool ok = all.x && all.labels;
    for (size_t i = 0; ok && i < n; i++) draw(all.x + i * INPUTS, &all.labels[i], i);
    for (size_t i = 0; ok && i < total; i++) {
        study_progress(o, i, total, "networks");
        mlp net = {.norm = (mlp_norm)(i % MLP_NORMS),
                   .rows = HELD_OUT,
                   .inputs = INPUTS,
                   .width = 64,
                   .classes = DIGITS,
                   .layers = 8};
        ok = train(o, &all, &net, rates[i / MLP_NORMS / seeds], (unsigned)(i / MLP_NORMS % seeds),
                   steps);
    }
    free(all.x), free(all.labels);
    return ok;
}

const study study_ablation = {"ablation", "What of a norm does the work: recentring or rescaling?",
                              run};
