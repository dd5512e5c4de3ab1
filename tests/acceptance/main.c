/* normlab_other_tests OUT.csv [FILE.c CASES]...: writes which tests catch each suspect. FILE: a
 * wrong kernel of a lab; CASES: the cases of its assignment. scripts/other_tests.py sets
 * OMP_MAX_ACTIVE_LEVELS=0, so that the threads' shares run in order and a data race has one result.
 * SPDX-License-Identifier: MIT */
#include "suspects.h"
#include "base/csv.h"
#include "machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 64, FORMULA_ROWS = 16, LARGE = 1 << 17 };

/* Appends options of the suspect's own case: always[] to any test's case, and other[] if the test
 * has own_options. */
static void own_options(const acceptance *t, const suspect *k, char *text, size_t size) {
    static const char *const always[] = {"cast-before-weight", "biased-running-var", "threads="},
                             *const other[] = {"residual", "no-", "in-place"};
    char options[CASE_TEXT];
    snprintf(options, sizeof options, "%s", k->own.text + k->own.options);
    for (char *one = strtok(options, "/"); one; one = strtok(NULL, "/")) {
        bool keep = false;
        for (size_t i = 0; i < 3; i++)
            keep |= strncmp(one, always[i], strlen(always[i])) == 0 ||
                    (t->own_options && strncmp(one, other[i], strlen(other[i])) == 0);
        const size_t used = strlen(text);
        if (keep) snprintf(text + used, size - used, "/%s", one);
    }
}

/* Makes the case of a test for a suspect. False: the test has no case of the suspect's layer. */
static bool case_text(const acceptance *t, const char *of, const suspect *k, nl_dtype type,
                      char text[CASE_TEXT]) {
    const nl_problem *p = &k->own.problem;
    const nl_layer *layer = &nl_layers[p->op];
    size_t n, c;
    int at = 0;
    if (sscanf(of, "%zux%zu%n", &n, &c, &at) != 2) return false;
    if (!(t->compares & nl_passes[p->pass].writes)) return false;
    if (strstr(of, "residual") && (!layer->residual || p->pass != NL_FORWARD)) return false;
    if (*k->formula && n > FORMULA_ROWS) n = FORMULA_ROWS;
    while (n > 1 && n * c > LARGE) n /= 2;
    snprintf(text, CASE_TEXT, "%s/%s/%s/%zux%zu/normal%s", nl_op_name(p->op), nl_pass_name(p->pass),
             nl_dtype_name(type), layer->by_channel ? c : n, layer->by_channel ? n : c, of + at);
    const bool keeps = t->own_options || t->compares & (NL_BIT(NL_MEAN) | NL_BIT(NL_RSTD));
    if (p->pass == NL_FORWARD && !keeps && *k->group != 'f') {
        if (layer->centred) strcat(text, "/no-mean");
        strcat(text, "/no-rstd");
    }
    own_options(t, k, text, CASE_TEXT);
    return true;
}

/* All calls of a test for the suspects of one layer, one pass and one set of options. */
typedef struct plan {
    stage at[STAGES];
    size_t count;
} plan;

static void clear(plan *q) {
    while (q->count) stage_free(&q->at[--q->count]);
}

static void make_plan(plan *q, const acceptance *t, const suspect *k) {
    clear(q);
    for (int i = 0; i < ACCEPTANCE_CASES && t->cases[i]; i++)
        for (nl_dtype type = NL_F32; type < NL_DTYPES; type++) {
            char text[CASE_TEXT], error[700];
            nl_case c;
            if (!(t->types & NL_BIT(type)) || !case_text(t, t->cases[i], k, type, text)) continue;
            if (!case_parse(text, &c, error, sizeof error)) {
                fprintf(stderr, "%s: %s\n", text, error);
                continue;
            }
            const int turns = t->jacobian ? (int)(c.problem.n * c.problem.c) : 1 + t->more_seeds;
            for (int turn = 0; turn < turns && q->count < STAGES; turn++)
                if (stage_make(&q->at[q->count], text, t, turn, *k->formula != '\0')) q->count++;
        }
}

static fate examine(plan *q, const acceptance *t, suspect *k) {
    fate found = UNSEEN;
    if (k->mutated) k->impl = mutant_kernel(NL_TWO_PASS, k->w);
    for (size_t i = 0; i < q->count; i++) {
        stage *g = &q->at[i];
        if (!stage_run(g, k)) continue;
        if (g->crashed) return CAUGHT;
        for (nl_arg o = 0; o < NL_ARGS; o++) {
            if (!(t->compares & NL_BIT(o)) || !g->rounded[o]) continue;
            found = PASSES;
            const float *beta = o == NL_Y ? g->data.input[NL_BETA] : NULL;
            if (!acceptance_meets(t, &g->c.problem, beta, stage_got(g, k, o), g->rounded[o],
                                  expected_count(&g->c.problem, o)))
                return CAUGHT;
        }
    }
    return found;
}

static void run(suspects *all, int test) {
    static plan q;
    const acceptance *t = &acceptances[test];
    for (size_t i = 0; i < all->count; i++) {
        suspect *k = &all->at[i];
        char text[CASE_TEXT] = "";
        own_options(t, k, text, sizeof text);
        if (k->examined > test) continue;
        make_plan(&q, t, k);
        for (size_t s = i; s < all->count; s++) {
            suspect *other = &all->at[s];
            char own[CASE_TEXT] = "";
            own_options(t, other, own, sizeof own);
            if (other->own.problem.op == k->own.problem.op && strcmp(own, text) == 0 &&
                other->own.problem.pass == k->own.problem.pass && !*other->formula == !*k->formula)
                other->fates[test] = examine(&q, t, other), other->examined = test + 1;
        }
    }
    clear(&q);
}

static void write_csv(FILE *out, const suspects *all) {
    static const char *const fates[] = {"unseen", "passes", "caught"};
    fprintf(out, "group,name,smallest,when");
    for (int t = 0; t < ACCEPTANCES; t++) fprintf(out, ",%s", acceptances[t].name);
    fputc('\n', out);
    for (const suspect *k = all->at; k < all->at + all->count; k++) {
        csv_text(out, k->group), csv_text(out, k->name), csv_text(out, k->own.text);
        fprintf(out, "%s", k->when ? k->when : "");
        for (int t = 0; t < ACCEPTANCES; t++) fprintf(out, ",%s", fates[k->fates[t]]);
        fputc('\n', out);
    }
}

int main(int argc, char **argv) {
    suspects all = {0};
    FILE *out = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (!out || !machine_write_beside(argv[1], false, NULL))
        return fprintf(stderr, "normlab_other_tests: OUT.csv cannot be written\n"), 2;
    if (!suspects_add_mutants(&all) || !suspects_add_labs(&all, argv + 2, argc - 2) ||
        !suspects_add_museum(&all) || !suspects_add_formulas(&all) || !suspects_add_right(&all))
        return 1;
    for (int t = 0; t < ACCEPTANCES; t++) run(&all, t);
    write_csv(out, &all);
    free(all.at);
    return fclose(out) == 0 ? 0 : 1;
}
