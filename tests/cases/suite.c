/* The built-in suite has, for each layer, pass and type, cases on both sides of every published
 * threshold and of every fork threshold, cases without each argument, and every kind of value in
 * every input. SPDX-License-Identifier: MIT */
#include "cases/data.h"
#include "cases/suite.h"
#include "layer.h"
#include "registry.h"
#include "support.h"
#include "tuning.h"

static case_list cases;

static void make_from(uint64_t seed) {
    char error[700];
    cr_assert(suite_cases(&cases, SUITE_FOR_ALL, seed, error, sizeof error), "%s", error);
}

static void make(void) {
    make_from(0);
}

static void clear(void) {
    cases_free(&cases);
}

TestSuite(suite, .init = make, .fini = clear);

static size_t size_of(const nl_problem *p, nl_axis axis) {
    switch (axis) {
    case NL_OF_N: return p->n;
    case NL_OF_C: return p->c;
    case NL_OF_S: return p->s;
    case NL_OF_COLUMNS: return p->c * p->s;
    case NL_OF_GROUP: return p->n * p->s;
    default: return p->n * p->c * p->s;
    }
}

/* Are there cases of this layer, pass and type just below the size, at the size and just above it?
 * Groups and tensors grow by whole runs or rows, so for them "just" means a larger step. */
static bool around(const nl_problem *like, nl_threshold t, int threads) {
    const size_t step = t.axis >= NL_OF_GROUP ? 64 + t.size / 128 : 1;
    bool below = t.size == 1, at = false, above = false;
    for (size_t i = 0; i < cases.count; i++) {
        const nl_problem *p = &cases.items[i].problem;
        if (p->op != like->op || p->pass != like->pass || p->dtype != like->dtype) continue;
        if (cases.items[i].threads < threads) continue;
        const size_t size = size_of(p, t.axis);
        below = below || (size < t.size && size + step >= t.size);
        above = above || (size > t.size && size <= t.size + step);
        at = at || size == t.size;
    }
    return below && at && above;
}

/* With any seed, each width of a model has a case with each option, in each pass. */
Test(suite, models_have_options) {
    static const char *const options[] = {"in-place", "no-gamma", "threads=",
                                          "eps=",     "skew-x=",  "residual"};
    enum { OPTIONS = sizeof options / sizeof *options, MOST = 40 };
    for (uint64_t seed = 0; seed < 5; seed++) {
        case_list list = {0};
        char error[700];
        size_t widths[MOST], count = 0, missing = 0;
        for (const char *width = MODELS; *width++ != '}'; width += strcspn(width, ",}"))
            widths[count++] = strtoull(width, NULL, 10);
        cr_assert(count > 20 && count < MOST);
        cr_assert(model_cases(&list, seed, error, sizeof error), "%s", error);
        for (size_t w = 0; w < count; w++)
            for (size_t k = 0; k < 2 * OPTIONS; k++) {
                size_t met = 0;
                for (size_t i = 0; i < list.count; i++)
                    met += list.items[i].problem.c == widths[w] &&
                           list.items[i].problem.pass == (nl_pass)(k / OPTIONS) &&
                           strstr(list.items[i].text, options[k % OPTIONS]) != NULL;
                missing += met == 0;
            }
        cr_expect(missing == 0, "seed %d: %zu of %zu options are missing", (int)seed, missing,
                  2 * count * OPTIONS);
        cases_free(&list);
    }
}

/* With any seed and for each option, some case has a large n, some case a large c, and some case a
 * large s. */
Test(suite, large_cases_have_options) {
    static const char *const options[] = {"in-place", "no-gamma", "threads=", "eps=", "skew-x="};
    enum { OPTIONS = sizeof options / sizeof *options };
    for (uint64_t seed = 0; seed < 10; seed++) {
        case_list list = {0};
        char error[700];
        size_t met[3][OPTIONS] = {0};
        for (uint64_t i = 0; i < DRAWN_LARGE; i++)
            cr_assert(large_case(&list, seed, i, error, sizeof error), "%s", error);
        cr_assert(list.count == DRAWN_LARGE);
        for (size_t i = 0; i < list.count; i++) {
            const nl_problem *p = &list.items[i].problem;
            const size_t size[] = {p->n, p->c, p->s}, all = p->n * p->c * p->s;
            cr_expect(all > 1 << 14 && all <= 1 << 20, "%s", list.items[i].text);
            for (size_t k = 0; k < 3 * OPTIONS; k++)
                met[k / OPTIONS][k % OPTIONS] +=
                    size[k / OPTIONS] > 8192 && strstr(list.items[i].text, options[k % OPTIONS]);
        }
        for (size_t k = 0; k < 3 * OPTIONS; k++)
            cr_expect(met[k / OPTIONS][k % OPTIONS], "seed %d: no large %c with %s", (int)seed,
                      "ncs"[k / OPTIONS], options[k % OPTIONS]);
        cases_free(&list);
    }
}

/* Kernels that were wrong only with a model's width and very many rows once passed the suite. */
Test(suite, models_widths_have_many_rows) {
    enum { SIZES = 6 };
    case_list list = {0};
    char error[700];
    size_t met[2][SIZES] = {{0}};
    cr_assert(suite_cases(&list, SUITE_FOR_FEW, 1, error, sizeof error), "%s", error);
    for (const nl_case *c = list.items; c < list.items + list.count; c++) {
        const nl_problem *p = &c->problem;
        const size_t all = p->n * p->c;
        const bool is[SIZES] = {p->c == 4096 && p->n >= 1100,
                                p->c == 768 && p->n >= 1100,
                                p->c == 128 && p->n >= 4200,
                                p->inner > 1 && p->n >= 4200,
                                p->dtype == NL_BF16 && all > 1 << 21,
                                p->x_stride.row > p->c && all > 1 << 20};
        if (p->pass != NL_FORWARD || (p->op != NL_LAYERNORM && p->op != NL_RMSNORM)) continue;
        for (int k = 0; k < SIZES; k++) met[p->op == NL_RMSNORM][k] += is[k];
    }
    for (int k = 0; k < 2 * SIZES; k++)
        cr_expect(met[k / SIZES][k % SIZES], "layer %d has no large case of kind %d", k / SIZES,
                  k % SIZES);
    cases_free(&list);
}

/* The k-th combination of layer, pass and type. */
static nl_problem problem_of(int k) {
    return (nl_problem){.op = (nl_op)(k / NL_DTYPES / NL_PASSES),
                        .pass = (nl_pass)(k / NL_DTYPES % NL_PASSES),
                        .dtype = (nl_dtype)(k % NL_DTYPES)};
}

Test(suite, has_every_threshold) {
    size_t thresholds = 0;
    for (size_t i = 0; i < nl_impl_count(); i++) {
        const nl_impl *m = nl_impl_at(i);
        if (strncmp(m->name, "optimized/", 10) == 0)
            cr_expect(m->thresholds, "%s publishes no threshold", m->name);
        for (const nl_threshold *t = m->thresholds; t && t->size; t++)
            for (int k = 0; k < NL_OPS * NL_PASSES * NL_DTYPES; k++) {
                const nl_problem p = problem_of(k);
                if (!nl_accepts(m, &p)) continue;
                thresholds++;
                if (!around(&p, *t, 0))
                    cr_assert_fail("%s@%s: no cases around the threshold %zu of axis %d for %s",
                                   m->name, m->isa, t->size, t->axis, spelled(&p));
            }
    }
    cr_assert(thresholds > 0 || !nl_find("optimized/rows_simd", NULL));
}

/* A loaded kernel's thresholds get cases even if they are too large for exact data. */
Test(suite, large_thresholds_have_cases) {
    static const nl_threshold of_rows[] = {{NL_OF_C, 3 << 19}, {NL_OF_ELEMENTS, 6 << 20}, {0}};
    static const nl_threshold of_batch[] = {{NL_OF_S, 3 << 20}, {NL_OF_ELEMENTS, 6 << 20}, {0}};
    static nl_impl rows = TEST_IMPL(.name = "mine/rows", .thresholds = of_rows);
    static nl_impl batch = TEST_IMPL(.name = "mine/batch", .thresholds = of_batch);
    rows.ops = NL_BIT(NL_RMSNORM), rows.passes = NL_BIT(NL_FORWARD);
    batch.ops = NL_BIT(NL_BATCHNORM);
    cr_assert(nl_registry_add(&rows) && nl_registry_add(&batch));
    clear(), make();
    size_t large = 0;
    for (size_t i = 0; i < cases.count; i++) {
        const nl_case *c = &cases.items[i];
        if (c->problem.n * c->problem.c * c->problem.s <= EXACT_MAX) continue;
        large++;
        cr_assert(!c->kind[NL_X].exact, "%s", c->text);
    }
    cr_assert(large > 0);
    const nl_problem p[] = {{.op = NL_RMSNORM, .pass = NL_FORWARD}, {.op = NL_BATCHNORM}};
    for (int k = 0; k < 4; k++)
        cr_assert(around(&p[k / 2], (k < 2 ? of_rows : of_batch)[k % 2], 0), "threshold %d", k);
}

Test(suite, has_the_sizes_to_fork_from) {
    for (int k = 0; k < NL_OPS * NL_PASSES * NL_DTYPES; k++) {
        const nl_problem p = problem_of(k);
        if (p.pass == NL_INFERENCE && !nl_layers[p.op].running) continue;
        const bool batch = p.op == NL_BATCHNORM && p.pass != NL_INFERENCE;
        const nl_threshold t = {NL_OF_ELEMENTS, batch                   ? NL_FORK_BATCH
                                                : p.pass == NL_BACKWARD ? NL_FORK_BACKWARD
                                                                        : NL_FORK_FORWARD};
        cr_expect(around(&p, t, 2), "%s", spelled(&p));
    }
}

/* For each layer, pass and type: each argument that may be NULL is NULL in some case, and each
 * input that may be overwritten is the only overwritten input in some case. */
Test(suite, leaves_out_and_overwrites_every_argument) {
    static struct seen { unsigned absent, overwritten; } seen[NL_OPS][NL_PASSES][NL_DTYPES];
    for (size_t i = 0; i < cases.count; i++) {
        const nl_case *c = &cases.items[i];
        const nl_problem *p = &c->problem;
        struct seen *s = &seen[p->op][p->pass][p->dtype];
        s->absent |= c->absent;
        if (!(c->in_place & (c->in_place - 1))) s->overwritten |= c->in_place;
    }
    for (int k = 0; k < NL_OPS * NL_PASSES * NL_DTYPES; k++) {
        const nl_problem p = problem_of(k);
        const nl_op op = p.op;
        const nl_pass pass = p.pass;
        const struct seen *s = &seen[op][pass][p.dtype];
        unsigned absent = nl_takes(op, pass) & ~nl_passes[pass].needs & ~NL_BIT(NL_RESIDUAL);
        unsigned overwritten = 0;
        for (nl_arg a = 0; a < NL_ARGS; a++)
            if (nl_takes(op, pass) & nl_passes[pass].writes & NL_BIT(a))
                overwritten |= nl_args[a].replaces & nl_takes(op, pass);
        if (pass == NL_INFERENCE && !nl_layers[op].running) absent = overwritten = 0;
        cr_expect((s->absent & absent) == absent && s->overwritten == overwritten,
                  "%s: left out %#x, not %#x; overwritten %#x, not %#x", spelled(&p), s->absent,
                  absent, s->overwritten, overwritten);
    }
}

/* Values that a kernel may treat differently from other values. */
enum { IS_NAN, PLUS_INF, MINUS_INF, ZERO, MINUS_ZERO, NEGATIVE, POSITIVE, SMALL, LARGE, VALUES };
static const char *const values[] = {"NaN",      "+inf",     "-inf",      "0",   "-0",
                                     "negative", "positive", "subnormal", "huge"};

static unsigned values_of(nl_dtype t, const void *array, size_t count) {
    const float least = t == NL_F16 ? 0x1p-14f : 0x1p-126f, most = t == NL_F16 ? 3e4f : 1e19f;
    unsigned seen = 0;
    for (size_t i = 0; i < count; i++) {
        const float v = nl_load(t, array, i), size = fabsf(v);
        seen |= isnan(v)   ? NL_BIT(IS_NAN)
                : isinf(v) ? NL_BIT(v > 0 ? PLUS_INF : MINUS_INF)
                : v == 0
                    ? NL_BIT(signbit(v) ? MINUS_ZERO : ZERO)
                    : NL_BIT(v < 0 ? NEGATIVE : POSITIVE) | (size < least ? NL_BIT(SMALL) : 0u) |
                          (size > most ? NL_BIT(LARGE) : 0u);
    }
    return seen;
}

/* A case cannot choose the saved statistics that backward reads, and a variance is not negative. */
static bool may_have(nl_op op, nl_pass pass, nl_arg a, int value) {
    return (nl_takes(op, pass) & nl_passes[pass].reads & NL_BIT(a)) && a != NL_MEAN &&
           a != NL_RSTD && (pass != NL_INFERENCE || nl_layers[op].running) &&
           (a != NL_RUNNING_VAR ||
            (value != NEGATIVE && value != MINUS_INF && value != MINUS_ZERO));
}

static unsigned by_layer[NL_OPS][NL_PASSES][NL_ARGS], by_type[NL_DTYPES][NL_PASSES][NL_ARGS];

/* Finds a value that an input lacks so far in every case of this layer, or in every case of this
 * type. False: nothing is missing. */
static bool missing(const nl_problem *p, nl_arg *a, int *value) {
    for (*a = 0; *a < NL_ARGS; ++*a)
        for (*value = 0; *value < VALUES; ++*value)
            if (may_have(p->op, p->pass, *a, *value) &&
                !(by_layer[p->op][p->pass][*a] & by_type[p->dtype][p->pass][*a] & NL_BIT(*value)))
                return true;
    return false;
}

/* Is there a case in which these two tensors of a layer have different strides? rows: the least
 * allowed `inner`. */
static bool differ(const case_list *in, nl_op op, nl_pass pass, nl_arg a, nl_arg b, size_t rows,
                   bool in_place) {
    for (const nl_case *c = in->items; c < in->items + in->count; c++)
        if (c->problem.op == op && c->problem.pass == pass && c->gap[a] != c->gap[b] &&
            !(~case_args(c) & (NL_BIT(a) | NL_BIT(b))) && c->problem.inner >= rows &&
            !c->in_place == !in_place)
            return true;
    return false;
}

/* Any two tensors have different strides in a case out of place, and in one whose `inner` is 17 or
 * more (more rows than a kernel takes at once). If neither tensor may overwrite the other, they
 * also have different strides in a case in place. */
Test(suite, every_two_tensors_have_different_strides) {
    for (nl_op op = 0; op < NL_OPS; op++)
        for (nl_pass pass = NL_FORWARD; pass <= NL_BACKWARD && !nl_layers[op].by_channel; pass++)
            for (nl_arg a = 0; a < NL_ARGS; a++)
                for (nl_arg b = 0; b < a; b++) {
                    const unsigned both = NL_BIT(a) | NL_BIT(b);
                    if (nl_args[a].extent != NL_TENSOR || nl_args[b].extent != NL_TENSOR ||
                        both & ~nl_takes(op, pass))
                        continue;
                    const bool one = (nl_args[a].replaces | nl_args[b].replaces) & both;
                    cr_expect(differ(&cases, op, pass, a, b, 0, false) &&
                                  differ(&cases, op, pass, a, b, 17, false) &&
                                  (one || differ(&cases, op, pass, a, b, 0, true)),
                              "%s %s: %s and %s", nl_op_name(op), nl_pass_name(pass),
                              nl_args[b].name, nl_args[a].name);
                }
}

/* The cases of `normlab try` find a kernel that confuses the strides of any two tensors. */
Test(suite, the_short_suite_tells_tensors_apart) {
    static const nl_arg tensors[2][4] = {{NL_X, NL_RESIDUAL, NL_Y, NL_RESIDUAL_OUT},
                                         {NL_X, NL_DY, NL_RESIDUAL, NL_DX}};
    char error[700];
    for (int back = 0; back < 2; back++) {
        const nl_impl *impl = nl_find(back ? "rmsnorm/backward" : "rmsnorm/one_pass", "c");
        case_list list = {0};
        for (size_t g = 0; short_suite_subject(g); g++)
            cr_assert(short_suite_add(g, impl, &list, error, sizeof error), "%s", error);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++)
                cr_expect(differ(&list, NL_RMSNORM, back ? NL_BACKWARD : NL_FORWARD,
                                 tensors[back][a], tensors[back][b], 0, false),
                          "%d: %d and %d", back, a, b);
        cases_free(&list);
    }
}

/* NL_BIT() of the inputs that have a NaN or an infinity. */
static unsigned special_inputs(const nl_case *c) {
    data_kind nan, inf;
    unsigned special = 0;
    cr_assert(kind_find("nan", &nan) && kind_find("inf", &inf));
    for (nl_arg a = 0; a < NL_ARGS; a++)
        if (c->kind[a].value == nan.value || c->kind[a].value == inf.value) special |= NL_BIT(a);
    return special;
}

/* Returns an option of this case that no case of the same layer, pass and type has without strides;
 * or NULL. */
static const char *missing_without_strides(const nl_case *strided) {
    bool in_place = false, residual = false;
    unsigned absent = strided->absent, special = special_inputs(strided);
    for (const nl_case *c = cases.items; c < cases.items + cases.count; c++) {
        const nl_problem *p = &c->problem, *q = &strided->problem;
        if (p->op != q->op || p->pass != q->pass || p->dtype != q->dtype || p->x_stride.row)
            continue;
        const bool alike = c->in_place == strided->in_place;
        in_place = in_place || alike;
        residual = residual || (alike && c->residual == strided->residual);
        absent &= ~c->absent;
        if (special) special &= ~special_inputs(c);
    }
    return !in_place   ? "in place"
           : !residual ? "in place with a residual"
           : absent    ? "an absent argument"
           : special   ? "NaN or infinity"
                       : NULL;
}

Test(suite, rows_without_strides_have_every_option) {
    for (uint64_t seed = 0; seed < 2; seed++) {
        if (seed) clear(), make_from(seed);
        for (const nl_case *c = cases.items; c < cases.items + cases.count; c++) {
            const char *what = c->problem.x_stride.row ? missing_without_strides(c) : NULL;
            cr_expect(!what, "seed %d: %s: only with strides: %s", (int)seed, c->text, what);
        }
    }
}

/* Tests each layer with each pass, and each type with each pass. */
Test(suite, every_input_has_every_kind_of_value) {
    nl_arg a;
    int v;
    for (size_t i = 0; i < cases.count; i++) {
        const nl_case *c = &cases.items[i];
        const nl_problem *p = &c->problem;
        nl_data d;
        char error[700];
        if (p->n * p->c * p->s > 20000 || !missing(p, &a, &v)) continue;
        cr_assert(data_make(c, &d, error, sizeof error), "%s", error);
        for (a = 0; a < NL_ARGS; a++) {
            const nl_dtype t = nl_args[a].extent == NL_TENSOR ? p->dtype : NL_F32;
            if (!d.input[a]) continue;
            const unsigned seen = values_of(t, d.input[a], d.bytes[a] / nl_dtype_bytes(t));
            by_layer[p->op][p->pass][a] |= seen, by_type[p->dtype][p->pass][a] |= seen;
        }
        data_free(&d);
    }
    for (int k = 0; k < NL_OPS * NL_DTYPES * NL_PASSES; k++) {
        const nl_problem p = problem_of(k);
        if (missing(&p, &a, &v))
            cr_assert_fail("%s: in its layer or type %s is never %s", spelled(&p),
                           nl_arg_name(a, p.pass), values[v]);
    }
    cr_assert(may_have(NL_LAYERNORM, NL_FORWARD, NL_X, IS_NAN) && by_layer[NL_LAYERNORM][0][NL_X]);
}
