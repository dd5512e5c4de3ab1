/* The seven rows of the RMSNorm paper's speed tables beside our measurements. Panel "norm" shows
 * the per cent of LayerNorm's time that RMSNorm saves here. Each mode has a series over the bytes
 * of x and y. Each row of the paper has two panels. "TABLE: MODEL, step" shows our saving times the
 * norm's share of the step (Amdahl's law). "TABLE: MODEL, paper" shows the paper's share, savings
 * and their +-. Interval ends have separate panels. SPDX-License-Identifier: MIT */
#include "timing/paper.h"
#include "timing/race.h"
#include "studies/study.h"

enum { C = 1024 };

static void paper_points(study_out *o, const paper_row *r) {
    char panel[100];
    double norm = r->layernorm.seconds - r->none.seconds;
    const struct {
        const char *series;
        paper_time t;
    } layers[] = {{"RMSNorm", r->rmsnorm}, {"pRMSNorm", r->partial}};
    snprintf(panel, sizeof panel, "%s: %s, paper", r->table, r->model);
    study_point(o, panel, "norm's share of the step", 0, 100 * paper_share(r));
    for (int i = 0; i < 2; i++) {
        paper_time saved = paper_saving(r, layers[i].t);
        double of_norm = (r->layernorm.seconds - layers[i].t.seconds) / norm;
        char series[60];
        study_point(o, panel, layers[i].series, 0, 100 * saved.seconds);
        snprintf(series, sizeof series, "%s, +-", layers[i].series);
        study_point(o, panel, series, 0, 100 * saved.error);
        snprintf(series, sizeof series, "%s, of norm time", layers[i].series);
        study_point(o, panel, series, 0, 100 * of_norm);
    }
}

static bool run(study_out *o, bool quick) {
    static const char *const names[] = {"unfused",       "naive", "scalar",
                                        "simd_two_pass", "simd",  "partial"};
    static const size_t sizes[] = {64, 8192};
    race by = {.seconds = quick ? 0.001 : 0.05, .seed = 1};
    enum { NAMES = sizeof names / sizeof *names };
    size_t count = quick ? 1 : 2;
    bool ok = true;
    for (size_t i = 0; i < paper_rows_count; i++) paper_points(o, &paper_rows[i]);
    for (size_t i = 0; ok && i < count * NAMES; i++) {
        char tail[80], panel[100];
        size_t n = sizes[i / NAMES];
        double x = 8.0 * (double)n * C;
        const mode *m = mode_find(names[i % NAMES]);
        race_result r;
        study_progress(o, i, count * NAMES, m->about);
        snprintf(tail, sizeof tail, "forward/f32/%zux%d/normal", n, C);
        ok = race_mode(&by, m, tail, &r);
        if (!ok) study_note(o, "FAIL rmsnorm2019, %s, %s: %s", m->name, tail, by.why);
        for (size_t k = 0; ok && k <= paper_rows_count; k++) {
            const paper_row *p = k ? &paper_rows[k - 1] : NULL;
            snprintf(panel, sizeof panel, "norm");
            if (p) snprintf(panel, sizeof panel, "%s: %s, step", p->table, p->model);
            study_interval(o, panel, m->name, x,
                           figure_saving(p ? paper_share(p) : 1, r.ratio, 0).value);
        }
    }
    fixtures_free(&by.all);
    return ok;
}

const study study_rmsnorm2019 = {"rmsnorm2019",
                                 "What did the RMSNorm paper measure, and what do we measure here?",
                                 run};
