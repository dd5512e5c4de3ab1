/* Which part of a norm makes it work: subtracting the mean or dividing by the size? A network
 * learns to read digits with both parts (LayerNorm), only the division (RMSNorm), only the
 * subtraction, and neither. All start with equal weights and use equal batches, for several seeds.
 * SPDX-License-Identifier: MIT */
#include "models/mlp.h"
#include "base/random.h"
#include "studies/study.h"

#include <math.h>

enum { NORMS = 4, BATCH = 32, SEEDS = 5 };

static const char *const names[NORMS] = {"nothing", "recentre", "rescale", "full"};
static const double rates[] = {0.003, 0.01, 0.03, 0.1};
enum { RATES = sizeof rates / sizeof *rates };

/* Trains one network; emits the loss and the share of errors on held-out pictures. */
static bool train(study_out *o, const digits *all, mlp *net, double rate, unsigned seed,
                  size_t steps) {
    char panel[40], series[40];
    snprintf(panel, sizeof panel, "loss, rate %g", rate);
    snprintf(series, sizeof series, "%s, seed %u", names[net->norm], seed);
    if (!mlp_make(net, seed)) return false;
    size_t wrong = 0, step = 0;
    bool sound = true;
    for (size_t show = 0; sound; step++) {
        if (step >= show || step == steps) {
            double loss = mlp_loss(net, HELD_OUT, digit(all, LEARNT), all->labels + LEARNT, &wrong);
            sound = isfinite(loss);
            if (sound) study_point(o, panel, series, (double)step, loss);
            show = step + 1 + step / 6; /* points are nearly even on a logarithmic axis */
        }
        if (step == steps || !sound) break;
        uint32_t at[4];
        random_words(100 + seed, step, at);
        size_t first = at[0] % (LEARNT - BATCH + 1);
        mlp_gradient(net, BATCH, digit(all, first), all->labels + first);
        mlp_step(net, (float)rate, 0.9f);
    }
    snprintf(panel, sizeof panel, "errors after %zu steps", steps);
    study_point(o, panel, series, rate, sound ? (double)wrong / HELD_OUT : 1);
    if (!sound) study_point(o, "came apart", series, rate, (double)step);
    mlp_free(net);
    return true;
}

static bool run(study_out *o, bool quick) {
    const size_t seeds = quick ? 2 : SEEDS, steps = quick ? 60 : 700;
    const size_t total = RATES * seeds * NORMS;
    digits all;
    bool ok = digits_make(&all);
    for (size_t i = 0; ok && i < total; i++) {
        study_progress(o, i, total, "networks");
        mlp net = {.norm = (mlp_norm)(i % NORMS),
                   .eps = 1e-5f,
                   .rows = HELD_OUT,
                   .inputs = DIGIT_POINTS,
                   .width = 64,
                   .classes = DIGITS,
                   .layers = 8};
        ok = train(o, &all, &net, rates[i / NORMS / seeds], (unsigned)(i / NORMS % seeds), steps);
    }
    digits_free(&all);
    return ok;
}

const study study_ablation = {"ablation", "What makes a norm work: recentring or rescaling?", run};
