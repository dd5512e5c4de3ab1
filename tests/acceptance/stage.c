/* SPDX-License-Identifier: MIT */
#include "suspects.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 4096, THREADS = 4 }; /* MARGIN: bytes on either side of a buffer */

static bool make_buffers(stage *g) {
    g->in = (instance){.c = &g->c, .data = &g->data};
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        const bool tensor = s == NL_Y || s == NL_DX;
        if (!g->data.bytes[s] && !g->data.input[s]) continue;
        if (tensor && s != (g->c.problem.pass == NL_BACKWARD ? NL_DX : NL_Y)) continue;
        char *memory = aligned_alloc(64, (g->data.bytes[s] + 2 * MARGIN + 63) / 64 * 64);
        if (!memory) return false;
        memset(memory, 0, g->data.bytes[s] + 2 * MARGIN);
        g->memory[s] = memory;
        g->in.at[s] = memory + MARGIN;
    }
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (g->c.in_place & NL_BIT(s)) g->in.at[case_output_over(&g->c, s)] = g->in.at[s];
    return true;
}

/* Computes the outputs that a right kernel stores: the expected values, rounded to their types. */
static bool make_rounded(stage *g) {
    size_t most = 0;
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        if (!expected_has(&g->in, o)) continue;
        const size_t count = expected_count(&g->c.problem, o);
        most = count > most ? count : most;
        if (!(g->rounded[o] = malloc((count + 1) * sizeof(double)))) return false;
        for (size_t i = 0; i < count; i++) {
            const expected_value d = expected_at(&g->d, o, i);
            g->rounded[o][i] = (double)ref_round(d.dtype, d.want);
        }
    }
    return (g->got = malloc((most + 1) * sizeof *g->got)) != NULL;
}

static bool make_formulas(stage *g) {
    g->s = (subject){.p = &g->c.problem,
                     .in = &g->want.in,
                     .want = &g->want.want,
                     .expectations = &g->d,
                     .narrow = g->c.problem.dtype,
                     .threads = 1};
    for (nl_arg o = 0; o < NL_ARGS; o++) g->s.got[o] = g->rounded[o];
    g->mistakes = malloc(MISTAKES_MAX * sizeof *g->mistakes);
    if (!g->mistakes || !workspace_open(&g->w, &g->s)) return false;
    g->mistakes_count = mistakes_list(&g->s, &g->w, g->mistakes);
    return true;
}

bool stage_make(stage *g, const char *text, const acceptance *t, int turn, bool formulas) {
    static nl_impl plain; /* the stage's bounds are those of two passes with one lane */
    char error[700];
    *g = (stage){0};
    plain = mutant_kernel(NL_TWO_PASS, (wrong){0});
    if (!case_parse(text, &g->c, error, sizeof error)) return false;
    if (!data_make(&g->c, &g->data, error, sizeof error)) return false;
    if (t) acceptance_fill(t, &g->c, &g->data, turn);
    if (!answer_make(&g->c, &g->data, &g->want) || !make_buffers(g)) return false;
    g->in.impl = &plain;
    return expectations_make(&g->in, &g->want.want, &g->d) && make_rounded(g) &&
           (!formulas || make_formulas(g));
}

void stage_free(stage *g) {
    for (nl_arg s = 0; s < NL_ARGS; s++) {
        free(g->memory[s]);
        free(g->rounded[s]);
    }
    if (g->mistakes) workspace_close(&g->w);
    free(g->mistakes), free(g->got), free(g->in.scratch);
    expectations_free(&g->d), answer_free(&g->want), data_free(&g->data);
    *g = (stage){0};
}

static bool run_formula(stage *g, const char *name) {
    for (size_t i = 0; i < g->mistakes_count; i++)
        if (strcmp(g->mistakes[i].name, name) == 0)
            return formula_evaluate(&g->w, &g->mistakes[i].formula), true;
    return false;
}

static sigjmp_buf back;

static void crash(int number) {
    siglongjmp(back, number);
}

bool stage_run(stage *g, const suspect *k) {
    g->crashed = false;
    if (*k->formula) return run_formula(g, k->formula);
    if (!nl_accepts(&k->impl, &g->c.problem)) return false;
    const size_t scratch = (nl_scratch_bytes(&k->impl, &g->c.problem) + 63) / 64 * 64;
    free(g->in.scratch);
    g->in.scratch = scratch ? aligned_alloc(64, scratch + MARGIN) : NULL;
    if (g->in.scratch) memset(g->in.scratch, 0, scratch + MARGIN);
    const nl_problem given = g->c.problem; /* restored below: one mutant overwrites the problem */
    g->in.impl = &k->impl, instance_refill(&g->in);
    bool ok = false;
    signal(SIGSEGV, crash);
    if (sigsetjmp(back, 1) == 0)
        ok = instance_call(&g->in, g->c.threads ? g->c.threads : THREADS) == NL_OK;
    else
        g->crashed = ok = true;
    signal(SIGSEGV, SIG_DFL);
    g->c.problem = given;
    return ok;
}

const double *stage_got(stage *g, const suspect *k, nl_arg o) {
    const column *from = &g->w.of[o];
    const size_t count = expected_count(&g->c.problem, o);
    const nl_dtype type = expected_type(&g->d, o);
    for (size_t i = 0; i < count; i++)
        g->got[i] = !*k->formula    ? nl_load(type, g->in.at[o], i)
                    : from->open[i] ? g->rounded[o][i]
                                    : from->value[i];
    return g->got;
}

bool stage_is_wrong(stage *g, const suspect *k) {
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        const double *got = g->rounded[o] ? stage_got(g, k, o) : NULL;
        for (size_t i = 0; got && i < expected_count(&g->c.problem, o); i++) {
            const expected_value d = expected_at(&g->d, o, i);
            if (!expected_met(&d, got[i])) return true;
        }
    }
    return false;
}
