/* How much time does RMSNorm save over LayerNorm? Shows 1 - t_RMS / t_LN in per cent, for each
 * mode, against the bytes of x and y. Every panel has three companions: low and high of the
 * interval, and the band of LayerNorm against itself.
 * SPDX-License-Identifier: MIT */
#include "timing/race.h"
#include "studies/study.h"

#include <math.h>
#include <string.h>

enum { C = 1024 };

#define ALL " unfused naive scalar simd_two_pass simd streaming threads "
#define TRAINED " scalar simd streaming threads "

static const struct panel {
    const char *name, *pass, *dtype, *options;
    const char *modes; /* names, each between spaces */
    size_t plain_most; /* most rows for modes in plain C; more would take minutes */
} panels[] = {
    {"f32 forward", "forward", "f32", "", ALL, 8192},
    {"f32 backward", "backward", "f32", "", TRAINED, 1024},
    {"f32 forward and backward", "both", "f32", "", TRAINED, 1024},
    {"f32 forward, residual", "forward", "f32", "/residual", ALL, 1024},
    {"f32 backward, residual", "backward", "f32", "/residual", TRAINED, 1024},
    {"f32 forward and backward, residual", "both", "f32", "/residual", TRAINED, 1024},
    {"f16 forward", "forward", "f16", "", ALL, 1024},
    {"f16 backward", "backward", "f16", "", TRAINED, 1024},
    {"f16 forward and backward", "both", "f16", "", TRAINED, 1024},
    {"bf16 forward", "forward", "bf16", "", ALL, 1024},
    {"bf16 backward", "backward", "bf16", "", TRAINED, 1024},
    {"bf16 forward and backward", "both", "bf16", "", TRAINED, 1024},
};
enum { PANELS = sizeof panels / sizeof *panels };

static bool is_selected(const struct panel *p, const mode *m, size_t n) {
    char word[40];
    nl_problem q = {.op = NL_LAYERNORM, .pass = NL_BACKWARD, .n = n, .c = C, .s = 1};
    bool optimized = strncmp(m->impl[0], "optimized/", 10) == 0, headline = p == panels;
    const bool whole = strcmp(p->pass, "both") == 0 && strcmp(p->dtype, "f32") == 0 && !*p->options;
    if (!headline && (n == 16 || n == 256 || (n == 8192 && !whole))) return false;
    snprintf(word, sizeof word, " %s ", m->name);
    if (!strstr(p->modes, word) || (!optimized && n > p->plain_most)) return false;
    if (m->threaded && nl_max_threads() == 1) return false;
    return strcmp(p->pass, "forward") == 0 || mode_impl(m, 0, &q);
}

static void points(study_out *o, const struct panel *p, const mode *m, double x,
                   const race_result *r) {
    const figure f = figure_saving(1, r->ratio, r->band);
    char name[80];
    study_interval(o, p->name, m->name, x, f.value);
    snprintf(name, sizeof name, "%s, band", p->name);
    study_point(o, name, m->name, x, f.band);
}

static bool run(study_out *o, bool quick) {
    static const size_t sizes[] = {4, 64, 1024, 8192, 16, 256};
    race by = {.seconds = quick ? 0.001 : 0.01, .seed = 1};
    size_t count = quick ? 2 : sizeof sizes / sizeof *sizes;
    bool ok = true;
    for (size_t i = 0; i < PANELS * count; i++)
        for (size_t k = 0; ok && k < modes_count; k++) {
            const struct panel *p = &panels[i / count];
            size_t n = sizes[i % count];
            double x = 2.0 * (double)(n * C) * (strcmp(p->dtype, "f32") == 0 ? 4 : 2);
            char tail[200];
            race_result r;
            if (!is_selected(p, &modes[k], n)) continue;
            study_progress(o, i, PANELS * count, p->name);
            snprintf(tail, sizeof tail, "%s/%s/%zux%d/normal%s", p->pass, p->dtype, n, C,
                     p->options);
            ok = race_mode(&by, &modes[k], tail, &r);
            if (ok) points(o, p, &modes[k], x, &r);
            if (!ok) study_note(o, "FAIL ln_vs_rms, %s, %s: %s", modes[k].name, tail, by.why);
        }
    fixtures_free(&by.all);
    return ok;
}

const study study_ln_vs_rms = {"ln_vs_rms", "How much time does RMSNorm save over LayerNorm?", run};
