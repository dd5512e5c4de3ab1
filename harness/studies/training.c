/* What does a norm change in training? First tests what follows from w . dL/dw = 0, up to rounding
 * errors. Then networks learn with several learning rates, sizes of the first weights, batches and
 * seeds. docs/course/06-why-norms-help.md explains the panels. SPDX-License-Identifier: MIT */
#include "models/mlp.h"
#include "base/random.h"
#include "studies/study.h"

#include <math.h>
#include <string.h>

enum { LAYERS = 5, WIDTH = 32, BATCH = 32, SEEDS = 6 }; /* the extremes of six contain the median */

static const char *const names[MLP_NORMS] =
    {[MLP_NOTHING] = "no norm", [MLP_RECENTRE] = "recentring", [MLP_RESCALE] = "RMSNorm",
     [MLP_FULL] = "LayerNorm",  [MLP_BATCH] = "BatchNorm",     [MLP_TANH] = "tanh"};

/* How a network learns. stretch scales the first hidden weights, and hidden scales their rate. */
typedef struct plan {
    mlp_norm norm;
    double rate, decay, stretch, hidden;
    size_t batch, steps;
    float eps;
} plan;

static bool make(const plan *p, unsigned seed, mlp *net) {
    *net = (mlp){.norm = p->norm,
                 .eps = p->eps,
                 .rows = HELD_OUT,
                 .inputs = DIGIT_POINTS,
                 .width = WIDTH,
                 .classes = DIGITS,
                 .layers = LAYERS};
    if (!mlp_make(net, seed)) return false;
    for (size_t i = 0; i < mlp_hidden(net); i++) net->parameters[i] *= (float)p->stretch;
    return true;
}

static double gradient(mlp *net, const digits *all, size_t batch, unsigned seed, size_t step) {
    uint32_t at[4];
    random_words(100 + seed, step, at);
    const size_t first = at[0] % (LEARNT - batch + 1);
    return mlp_gradient(net, batch, digit(all, first), all->labels + first);
}

/* Plain gradient descent; decay pulls the weights of the hidden layers towards 0. */
static void descend(mlp *net, const plan *p) {
    const float keep = (float)(1 - p->rate * p->decay), hidden = (float)(p->rate * p->hidden);
    for (size_t i = 0; i < net->count; i++) {
        const bool before_norm = i < mlp_hidden(net);
        net->parameters[i] = (before_norm ? keep : 1) * net->parameters[i] -
                             (before_norm ? hidden : (float)p->rate) * net->gradient[i];
    }
}

/* The share of errors after training; 1 if the network diverged. */
static bool learn(const plan *p, const digits *all, unsigned seed, double *errors) {
    mlp net;
    size_t wrong = HELD_OUT;
    if (!make(p, seed, &net)) return false;
    bool sound = true;
    for (size_t step = 0; step < p->steps && sound; step++) {
        sound = isfinite(gradient(&net, all, p->batch, seed, step));
        descend(&net, p);
    }
    net.running = true;
    sound = sound &&
            isfinite(mlp_loss(&net, HELD_OUT, digit(all, LEARNT), all->labels + LEARNT, &wrong));
    *errors = sound ? (double)wrong / HELD_OUT : 1;
    mlp_free(&net);
    return true;
}

/* Emits the median over the seeds; the interval is the range of all seeds. */
static bool learn_all(study_out *o, const char *panel, const plan *p, const digits *all,
                      unsigned seeds, double x) {
    double errors[SEEDS];
    study_progress(o, (size_t)p->norm, MLP_NORMS, panel);
    for (unsigned seed = 0; seed < seeds; seed++)
        if (!learn(p, all, seed, &errors[seed])) return false;
    estimate e = stats_median(errors, seeds, 0.95); /* sorted now */
    e.low = errors[0], e.high = errors[seeds - 1];
    study_interval(o, panel, names[p->norm], x, e);
    return true;
}

static double length(const float *v, size_t n) {
    double squares = 0;
    for (size_t i = 0; i < n; i++) squares += (double)v[i] * (double)v[i];
    return sqrt(squares);
}

/* The largest |w . dL/dw| of a hidden layer, divided by the lengths of w and dL/dw. */
static double along(const mlp *net) {
    double most = 0;
    for (size_t l = 0, at = 0, count; l < LAYERS; l++, at += count) {
        count = ((l ? WIDTH : DIGIT_POINTS) + 1) * WIDTH;
        const float *w = net->parameters + at, *g = net->gradient + at;
        double sum = 0;
        for (size_t i = 0; i < count; i++) sum += (double)w[i] * (double)g[i];
        most = fmax(most, fabs(sum) / (length(w, count) * length(g, count)));
    }
    return most;
}

/* The curvature: the change of the hidden layers' gradient after a short step along this gradient,
 * divided by the length of the step. Leaves the weights nearly unchanged. */
static double curvature(mlp *net, const digits *all, float *before) {
    const size_t count = mlp_hidden(net);
    gradient(net, all, BATCH, 0, 0);
    memcpy(before, net->gradient, count * sizeof *before);
    const double size = length(before, count);
    const float step = (float)(1e-3 * length(net->parameters, count) / size);
    for (size_t i = 0; i < count; i++) net->parameters[i] -= step * before[i];
    gradient(net, all, BATCH, 0, 0);
    for (size_t i = 0; i < count; i++) net->gradient[i] -= before[i];
    return length(net->gradient, count) / ((double)step * size);
}

/* Multiplies all hidden weights by 4. Emits the ratios (new over old) of loss, gradient length and
 * curvature, and w . dL/dw. With a norm of eps = 0 these four are 1, 1/4, 1/16 and 0. */
static bool scale(study_out *o, const digits *all, mlp_norm norm) {
    static float before[(DIGIT_POINTS + 1 + (LAYERS - 1) * (WIDTH + 1)) * WIDTH];
    double loss[2], size[2], bend[2];
    for (int k = 0; k < 2; k++) {
        mlp net;
        const plan p = {.norm = norm, .stretch = k ? 4 : 1};
        if (!make(&p, 1, &net)) return false;
        loss[k] = gradient(&net, all, BATCH, 0, 0);
        size[k] = length(net.gradient, mlp_hidden(&net));
        if (!k) study_point(o, "w . dL/dw over their lengths", names[norm], 1, along(&net));
        bend[k] = curvature(&net, all, before);
        mlp_free(&net);
    }
    study_point(o, "loss, weights times x", names[norm], 4, loss[1] / loss[0]);
    study_point(o, "gradient, weights times x", names[norm], 4, size[1] / size[0]);
    study_point(o, "curvature, weights times x", names[norm], 4, bend[1] / bend[0]);
    return true;
}

/* Trains two networks; the second has 4 times the weights and 16 times the learning rate. Emits the
 * largest difference of their losses: 0 with a norm of eps 0, as all factors are powers of two. */
static bool twins(study_out *o, const digits *all, mlp_norm norm, size_t steps) {
    const plan p = {.norm = norm, .rate = 0.1, .stretch = 1, .hidden = 1, .steps = steps};
    plan q = p;
    mlp one, four;
    double most = 0;
    q.stretch = 4, q.hidden = 16;
    if (!make(&p, 1, &one)) return false;
    if (!make(&q, 1, &four)) return mlp_free(&one), false;
    for (size_t step = 0; step < steps; step++) {
        const double a = gradient(&one, all, BATCH, 1, step),
                     b = gradient(&four, all, BATCH, 1, step);
        descend(&one, &p), descend(&four, &q);
        most = fmax(most, isfinite(a - b) ? fabs(a - b) : INFINITY);
    }
    study_point(o, "loss: 4 w at 16 times the rate, against w", names[norm], (double)steps, most);
    mlp_free(&one), mlp_free(&four);
    return true;
}

/* The length of the weights between two norms, and the rms of the angles by which steps turn the
 * weights. eps is 0, since any other eps would matter once the weights are short. */
static bool turn(study_out *o, const digits *all, double decay, size_t steps) {
    const plan p = {.norm = MLP_RESCALE, .rate = 0.2, .decay = decay, .stretch = 1, .hidden = 1};
    enum { FIRST = (DIGIT_POINTS + 1) * WIDTH, COUNT = (WIDTH + 1) * WIDTH, EVERY = 100 };
    float old[COUNT];
    char series[40];
    mlp net;
    if (!make(&p, 1, &net)) return false;
    snprintf(series, sizeof series, decay > 0 ? "weight decay %g" : "no weight decay", decay);
    const float *w = net.parameters + FIRST;
    double squares = 0;
    for (size_t step = 1; step <= steps; step++) {
        memcpy(old, w, sizeof old);
        gradient(&net, all, 8, 1, step), descend(&net, &p);
        double dot = 0;
        for (size_t i = 0; i < COUNT; i++) dot += (double)w[i] * (double)old[i];
        const double angle = acos(fmin(1, dot / (length(w, COUNT) * length(old, COUNT))));
        squares += angle * angle;
        if (step % EVERY) continue;
        study_point(o, "length of w", series, (double)step, length(w, COUNT));
        study_point(o, "angle of a step", series, (double)step, sqrt(squares / EVERY));
        if (decay > 0)
            study_point(o, "angle of a step, expected", series, (double)step,
                        sqrt(2 * p.rate * decay));
        squares = 0;
    }
    return mlp_free(&net), true;
}

static bool sweeps(study_out *o, const digits *all, bool quick) {
    static const mlp_norm norms[] = {MLP_NOTHING, MLP_RESCALE, MLP_FULL, MLP_BATCH, MLP_TANH};
    static const double rates[] = {0.01, 0.03, 0.1, 0.3, 1, 3}, stretches[] = {0.25, 0.5, 1, 2, 4};
    const unsigned seeds = quick ? 2 : SEEDS;
    const size_t kinds = sizeof norms / sizeof *norms, skip = quick ? 2 : 1;
    const plan usual = {.rate = 0.1,
                        .stretch = 1,
                        .hidden = 1,
                        .batch = BATCH,
                        .steps = quick ? 40 : 400,
                        .eps = 1e-5f};
    for (size_t k = 0; k < kinds; k++) {
        plan p = usual;
        p.norm = norms[k];
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i += skip) {
            p.rate = rates[i];
            if (!learn_all(o, "errors by rate", &p, all, seeds, p.rate)) return false;
        }
        p.rate = usual.rate;
        for (size_t i = 0; i < sizeof stretches / sizeof *stretches; i += skip) {
            p.stretch = stretches[i];
            if (!learn_all(o, "errors by size of the first weights", &p, all, seeds, p.stretch))
                return false;
        }
        p.stretch = 1;
        for (p.batch = 2; p.batch <= 64; p.batch *= quick ? 32 : 2)
            if (!learn_all(o, "errors by batch", &p, all, seeds, (double)p.batch)) return false;
    }
    return true;
}

static bool run(study_out *o, bool quick) {
    static const mlp_norm norms[] = {MLP_NOTHING, MLP_RESCALE, MLP_FULL, MLP_BATCH};
    digits all;
    bool ok = digits_make(&all);
    for (size_t i = 0; ok && i < sizeof norms / sizeof *norms; i++)
        ok = scale(o, &all, norms[i]) && twins(o, &all, norms[i], quick ? 20 : 200);
    ok = ok && turn(o, &all, 0, 2000) && turn(o, &all, 0.005, 2000) && sweeps(o, &all, quick);
    digits_free(&all);
    return ok;
}

const study study_training = {"training", "What does a norm change in training?", run};
