/* SPDX-License-Identifier: MIT */
#include "suspects.h"
#include "cases/case.h"
#include "cases/museum.h"
#include "verify/isolate.h"
#include "verify/verify.h"
#include "workbench/compile.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static suspect *add(suspects *all, const char *group, const char *name) {
    suspect *more = realloc(all->at, (all->count + 1) * sizeof *more);
    if (!more) return NULL;
    all->at = more;
    suspect *k = &all->at[all->count++];
    *k = (suspect){.group = group};
    snprintf(k->name, sizeof k->name, "%s", name);
    return k;
}

static bool parse(suspect *k, const char *text) {
    char error[700];
    return case_parse(text, &k->own, error, sizeof error) ||
           (fprintf(stderr, "%s: %s\n", text, error), false);
}

/* Verifies the suspect on its own case. If the suspect fails, shrinks the case while the suspect
 * still fails. */
static outcome try_own(suspect *k) {
    nl_data data;
    answer want;
    verdict v = {.outcome = OUTCOME_SKIP};
    if (!data_make(&k->own, &data, (char[700]){0}, 700)) return OUTCOME_SKIP;
    if (answer_make(&k->own, &data, &want)) {
        const int threads = k->own.threads ? k->own.threads : 1;
        for (placement at = PLACE_END; at <= PLACE_START && v.outcome != OUTCOME_FAIL; at++)
            v = verify(&k->own, &data, &want, &k->impl, at, threads);
        answer_free(&want);
    }
    data_free(&data);
    if (v.outcome == OUTCOME_FAIL) shrink(&k->own, &v, &k->impl, 1); /* shrink.c */
    return v.outcome;
}

bool suspects_add_mutants(suspects *all) {
    for (const mutant *m = mutants; m < mutants + mutant_count; m++) {
        suspect *k = add(all, "mutant", m->name);
        if (!k || !parse(k, m->text)) return false;
        k->mutated = true, k->w = m->w, k->impl = mutant_kernel(NL_TWO_PASS, m->w);
        if (try_own(k) != OUTCOME_FAIL) k->when = "called again and again";
    }
    return true;
}

/* Finds the first of these cases that the kernel fails, and shrinks the case. False: the kernel's
 * numbers are right, so its fault is of another kind, such as low speed. */
static bool find_case(suspect *k, const case_list *cases) {
    for (size_t i = 0; i < cases->count; i++) {
        k->own = cases->items[i];
        if (nl_accepts(&k->impl, &k->own.problem) && try_own(k) == OUTCOME_FAIL) return true;
    }
    return false;
}

/* The kernel of a library. The library stays open. NULL: it has no kernel. */
static const nl_impl *open_kernel(const char *library) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    const nl_impl *(*kernel)(size_t) = NULL;
    void *symbol = handle ? dlsym(handle, "normlab_kernel") : NULL;
    memcpy(&kernel, &symbol, sizeof kernel);
    isolate_end(); /* child processes started earlier lack the library */
    return kernel ? kernel(0) : NULL;
}

/* Compiles the file, and adds its kernel if the kernel fails one of the cases in `spellings`, which
 * spaces separate. Compiles for one vector width, since the smallest case depends on the width. */
static bool add_lab(suspects *all, const char *file, char *spellings) {
    case_list cases = {0};
    char error[700] = "it has no kernel";
    compiled c = {.widest = nl_isa_runs("avx2") ? "avx2" : NULL};
    const nl_impl *impl =
        compile_kernel(file, &c, error, sizeof error) ? open_kernel(c.library) : NULL;
    compile_remove(&c);
    bool ok = impl != NULL;
    char *rest = spellings;
    for (char *one; ok && (one = strtok_r(rest, " ", &rest));)
        ok = cases_add(&cases, one, error, sizeof error);
    suspect *k = ok ? add(all, "lab", impl->name + strlen("try/")) : NULL;
    if (k) k->impl = *impl;
    if (k && !find_case(k, &cases)) all->count--;
    cases_free(&cases);
    return k || (fprintf(stderr, "%s: %s\n", file, error), false);
}

bool suspects_add_labs(suspects *all, char **pairs, int count) {
    for (int i = 0; i + 1 < count; i += 2)
        if (!add_lab(all, pairs[i], pairs[i + 1])) return false;
    return true;
}

/* Is the largest error NaN, or more than half of its number's scale? */
static bool is_far(const verdict *v, const nl_case *c) {
    const double unit = (double)ref_unit(c->problem.dtype);
    return v->outcome == OUTCOME_DEMO && !(v->error_u * unit <= 0.5);
}

/* Adds rungs in plain C that reproduce a bug report, each with its smallest exhibit. Leaves out
 * data of 1e30, whose squares overflow float in every method but one. */
bool suspects_add_museum(suspects *all) {
    case_list exhibits = {0};
    char spelling[CASE_TEXT];
    bool ok = true;
    for (size_t m = 0; m < museum_count(); m++)
        for (size_t i = 0; ok && museum_spelling(museum_at(m), i, spelling, sizeof spelling); i++)
            ok = cases_add(&exhibits, spelling, (char[700]){0}, 700);
    const size_t first = all->count;
    for (size_t i = 0; ok && i < exhibits.count; i++) {
        const nl_case *c = &exhibits.items[i];
        nl_data data;
        answer want;
        if (strcmp(c->data, "museum:pt162489") == 0) continue;
        if (!data_make(c, &data, (char[700]){0}, 700) || !answer_make(c, &data, &want))
            return false;
        for (size_t m = 0; m < nl_impl_count(); m++) {
            const nl_impl *impl = nl_impl_at(m);
            if (strcmp(impl->isa, "c") != 0 || strncmp(impl->name, "optimized/", 10) == 0 ||
                !nl_accepts(impl, &c->problem))
                continue;
            const verdict v = verify(c, &data, &want, impl, PLACE_END, 1);
            char name[96];
            snprintf(name, sizeof name, "%s%s", impl->name,
                     c->problem.op == NL_QWEN2_RMSNORM ? ", 1 + w" : "");
            suspect *k = NULL;
            for (size_t s = first; s < all->count && !k; s++)
                if (strcmp(all->at[s].name, name) == 0) k = &all->at[s];
            if (!is_far(&v, c)) continue;
            if (!k && (k = add(all, "museum", name))) k->impl = *impl, k->own = *c;
            if (!k) return false;
            if (c->problem.n * c->problem.c < k->own.problem.n * k->own.problem.c) k->own = *c;
        }
        answer_free(&want), data_free(&data);
    }
    cases_free(&exhibits);
    return ok;
}

/* Finds the smallest of the shapes below on which the formula's error exceeds the bound. */
static bool formula_is_wrong(suspect *k, nl_op op, nl_pass pass) {
    static const char *const types[] = {"f32", "bf16"}, *const shapes[] = {"1x1", "1x2", "2x1",
                                                                           "1x3", "2x2", "3x2",
                                                                           "3x3", "3x5", "5x8",
                                                                           "9x64"};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int t = 0; t < 2; t++) {
            static stage kept[NL_OPS][NL_PASSES][2][16];
            stage *g = &kept[op][pass][t][i];
            char text[CASE_TEXT];
            snprintf(text, sizeof text, "%s/%s/%s/%s/normal", nl_op_name(op), nl_pass_name(pass),
                     types[t], shapes[i]);
            if (!g->got && !stage_make(g, text, NULL, 0, true)) continue;
            if (stage_run(g, k) && stage_is_wrong(g, k)) return k->own = g->c, true;
        }
    return false;
}

/* Adds the formulas of one layer and pass. Leaves out mistakes that contain a number, because the
 * number depends on the case. */
static bool add_formulas(suspects *all, nl_op op, nl_pass pass) {
    static const char *const types[] = {"f32", "bf16"};
    const size_t first = all->count;
    for (int t = 0; t < 2; t++) {
        stage g;
        char text[CASE_TEXT];
        snprintf(text, sizeof text, "%s/%s/%s/9x64/normal", nl_op_name(op), nl_pass_name(pass),
                 types[t]);
        if (!stage_make(&g, text, NULL, 0, true)) return false;
        for (size_t i = 0; i < g.mistakes_count; i++) {
            const char *name = g.mistakes[i].name, last = name[strlen(name) - 1];
            bool known = g.mistakes[i].fitted || (last >= '0' && last <= '9');
            for (size_t s = first; s < all->count && !known; s++)
                known = strcmp(all->at[s].formula, name) == 0;
            suspect *k = known ? NULL : add(all, "formula", g.mistakes[i].text);
            if (!k) continue;
            strcpy(k->formula, name);
            if (!formula_is_wrong(k, op, pass)) all->count--;
        }
        stage_free(&g);
    }
    return true;
}

bool suspects_add_formulas(suspects *all) {
    return add_formulas(all, NL_LAYERNORM, NL_FORWARD) &&
           add_formulas(all, NL_LAYERNORM, NL_BACKWARD) &&
           add_formulas(all, NL_RMSNORM, NL_FORWARD) &&
           add_formulas(all, NL_RMSNORM, NL_BACKWARD) &&
           add_formulas(all, NL_BATCHNORM, NL_FORWARD) &&
           add_formulas(all, NL_BATCHNORM, NL_BACKWARD);
}

static bool is_exhibited(const suspects *all, const nl_impl *impl) {
    for (size_t i = 0; i < all->count; i++)
        if (*all->at[i].group == 'm' && !all->at[i].mutated &&
            strcmp(all->at[i].impl.name, impl->name) == 0)
            return true;
    return false;
}

/* Adds only rungs in plain C, so that the number of suspects is the same on every machine. */
bool suspects_add_right(suspects *all) {
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *impl = nl_impl_at(i);
        if (impl->demonstration || strcmp(impl->isa, "c") != 0 || is_exhibited(all, impl)) continue;
        for (nl_op op = 0; op < NL_OPS; op++)
            for (nl_pass pass = 0; pass < NL_PASSES; pass++) {
                char name[96], text[CASE_TEXT];
                if (!(impl->ops & NL_BIT(op)) || !(impl->passes & NL_BIT(pass)) ||
                    (pass == NL_INFERENCE && !nl_layers[op].running))
                    continue;
                snprintf(name, sizeof name, "%s", impl->name);
                snprintf(text, sizeof text, "%s/%s/f32/9x64/normal", nl_op_name(op),
                         nl_pass_name(pass));
                suspect *k = add(all, "right", name);
                if (!k || !parse(k, text)) return false;
                k->impl = *impl;
            }
    }
    return true;
}
