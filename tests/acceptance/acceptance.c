/* Acceptance tests of other projects, copied from their sources. docs/other-tests.md names file,
 * line and commit. SPDX-License-Identifier: MIT */
#include "acceptance.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

#define GRADIENTS (NL_BIT(NL_DX) | NL_BIT(NL_DGAMMA) | NL_BIT(NL_DBETA))
#define STATISTICS (NL_BIT(NL_MEAN) | NL_BIT(NL_RSTD))
#define ALL_OUTPUTS                                                                  \
    (NL_BIT(NL_Y) | NL_BIT(NL_RESIDUAL_OUT) | STATISTICS | NL_BIT(NL_RUNNING_MEAN) | \
     NL_BIT(NL_RUNNING_VAR) | GRADIENTS)
#define F32 NL_BIT(NL_F32)
#define F16 NL_BIT(NL_F16)
#define BF16 NL_BIT(NL_BF16)
#define SAME(...)        \
    {                    \
        {__VA_ARGS__}, { \
            __VA_ARGS__  \
        }                \
    }
#define FRESH .gain = {'c', 1, 0}, .beta = {'c', 0, 0}
#define NORMAL \
    { 'n', 0, 1 }
/* For a test that fills all inputs with N(0, 1), runs every type, passes every argument that the
 * kernel takes, and compares every output. */
#define ANY_KERNEL                                                                   \
    .types = F32 | F16 | BF16, .x = NORMAL, .residual = NORMAL, .dy = NORMAL, FRESH, \
    .cases = {"64x1024"}, .compares = ALL_OUTPUTS, .own_options = true

#define F(...) \
    { __VA_ARGS__ }
#define FILLS(x1, gain1, beta1, dy1) .x = x1, .gain = gain1, .beta = beta1, .dy = dy1

#define E2 \
    { 1e-2, 1e-2 }
#define E4 \
    { 1e-4, 1e-4 }

const acceptance acceptances[ACCEPTANCES] = {
    {.name = "allclose 1e-2", ANY_KERNEL, .within = SAME(E2, E2, E2)},
    {.name = "allclose", ANY_KERNEL, .within = SAME({1e-5, 1e-8}, {1e-5, 1e-8}, {1e-5, 1e-8})},
    {.name = "assert_close",
     ANY_KERNEL,
     .within = SAME({1.3e-6, 1e-5}, {1e-3, 1e-5}, {1.6e-2, 1e-5})},
    {.name = "gradcheck",
     .types = F32,
     .within = {[BACKWARD] = {{1e-3, 1e-5}}},
     .x = NORMAL,
     .cases = {"2x3", "3x5"},
     .compares = GRADIENTS,
     .jacobian = true},
    {.name = "KernelBench",
     .types = F32 | F16 | BF16,
     .within = {{E4, E2, E2}},
     .x = {'u', 0, 1},
     FRESH,
     .cases = {"2048x64", "1x131072"},
     .compares = NL_BIT(NL_Y),
     .more_seeds = 4},
    {.name = "llm.c",
     .rule = FINITE,
     .types = F32 | BF16,
     .within = {{{0x1p-23, 1e-5}, {0, 0}, {0.079, 1e-5}}, {{0x1p-23, 1e-3}, {0, 0}, {0.079, 1e-1}}},
     FILLS(F('u', -1, 1), F('u', -1, 1), F('u', -1, 1), F('u', -1, 1)),
     .cases = {"512x768", "256x1600"},
     .compares = NL_BIT(NL_Y) | STATISTICS | GRADIENTS},
    {.name = "ggml",
     .rule = SQUARES,
     .types = F32,
     .within = {{{1e-7, 0}}, {{1e-7, 0}}},
     FILLS(F('u', -10, 10), F('u', -10, 10), F('u', -10, 10), F('u', -10, 10)),
     .cases = {"60x64/eps=1e-6", "60x1025/eps=1e-1", "60x33/eps=1e-6", "60x260/eps=1e-6"},
     .compares = NL_BIT(NL_Y) | NL_BIT(NL_DX)},
    {.name = "benchdnn",
     .rule = NORM,
     .types = F32 | F16 | BF16,
     .within = {{{5e-7, 0}, {4.096e-3, 0}, {3.2768e-2, 0}},
                {{5e-6, 0}, {4.096e-2, 0}, {3.2768e-1, 0}}},
     FILLS(F('p', 0, 0), F('g', 0, 0), F('s', 0, 0), F('2', 0, 0)),
     .cases = {"15x3/eps=0.0625", "30x300/eps=0.0625", "257x768/eps=0.0625"},
     .compares = NL_BIT(NL_Y) | STATISTICS | GRADIENTS},
    {.name = "Triton",
     .types = F16,
     .within = SAME({0, 0}, {0, 1e-2}, {0, 0}),
     FILLS(F('n', -2.3, 0.5), F('u', 0, 1), F('u', 0, 1), F('n', 0, 0.1)),
     .cases = {"1151x8192"},
     .compares = NL_BIT(NL_Y) | GRADIENTS},
    {.name = "Liger",
     .types = F32 | BF16,
     .within = SAME({1e-6, 1e-4}, {0, 0}, {2e-2, 2e-1}),
     .x = NORMAL,
     .dy = NORMAL,
     FRESH,
     .cases = {"256x512/eps=1e-6", "615x123/eps=1e-6"},
     .compares = NL_BIT(NL_Y) | GRADIENTS},
    {.name = "vLLM",
     .types = F32 | F16 | BF16,
     .within = {{E2, E2, E2}},
     .x = {'n', 0, 1}, /* acceptance_fill() divides by twice the width */
     .residual = {'n', 0, 1},
     .gain = {'n', 1, 0.1},
     .cases = {"7x8/eps=1e-6", "83x769/eps=1e-6", "64x8192/eps=1e-6", "83x769/eps=1e-6/residual"},
     .compares = NL_BIT(NL_Y) | NL_BIT(NL_RESIDUAL_OUT)},
    {.name = "apex",
     .types = F32 | F16 | BF16,
     .within = {{{1e-3, 1e-3}, {1e-3, 1e-5}, {1.6e-2, 3e-4}},
                {{1e-3, 1e-3}, {1e-3, 1e-5}, {1.6e-2, 3e-3}}},
     .x = NORMAL,
     .dy = {'u', 0, 1},
     FRESH,
     .cases = {"16x512"},
     .compares = NL_BIT(NL_Y) | NL_BIT(NL_DX)},
};

static double drawn(fill f, uint64_t stream, const nl_problem *p, size_t i, bool tensor) {
    const size_t g = tensor ? nl_group_of(p, i) : 0, e = tensor ? nl_member_of(p, i) : i;
    const double sign = e % 2 ? -1 : 1, mean = ldexp(1, (int)(g % 7) - 2);
    const size_t last = nl_group_size(p) - 1;
    const double step = p->dtype != NL_F32 ? 0.25 : (double)((e / 2 + g * 239) * 1637 % 64) / 64;
    switch (f.how) {
    case 'n': return f.a + f.b * random_normal(stream, i);
    case 'u': return f.a + (f.b - f.a) * random_uniform(stream, i);
    case 'p':
        if (e == last && last % 2 == 0) return mean;
        return mean + sign * step * (p->dtype == NL_F32 ? mean : e / 2 % 3 ? 1 : 4);
    case 'm': return mean - sign;
    case '2':
        return ldexp(random_uniform(stream, i) < 0.5 ? -1 : 1,
                     (int)(7 * random_uniform(stream + 1, i)) - 4);
    case 'g': return ldexp(1, (int)(i % 7) - 3);
    case 's': return ((double)(i % 3) - 1) * ldexp(1, (int)(i % 7) - 9);
    default: return f.a;
    }
}

static void put(const nl_case *c, nl_data *d, nl_arg a, fill f, int turn) {
    const nl_problem *p = &c->problem;
    const bool tensor = nl_args[a].extent == NL_TENSOR;
    const float less = a == NL_GAMMA && nl_layers[p->op].plus_one ? 1 : 0;
    const size_t count = tensor ? p->n * p->c * p->s : p->c;
    for (size_t i = 0; f.how && d->input[a] && i < count; i++)
        nl_store(tensor ? p->dtype : NL_F32, d->input[a], i,
                 (float)drawn(f, 64 + (uint64_t)turn * 32 + 2 * a, p, i, tensor) - less);
}

/* vLLM divides x and the residual by twice the width. */
static fill scaled(const acceptance *t, const nl_problem *p, fill f) {
    if (strcmp(t->name, "vLLM") == 0) f.b /= 2 * (double)nl_group_size(p);
    return f;
}

void acceptance_fill(const acceptance *t, const nl_case *c, nl_data *data, int turn) {
    const bool pairs = t->x.how == 'p' && c->problem.pass == NL_BACKWARD;
    put(c, data, NL_X, pairs ? (fill){'m', 0, 0} : scaled(t, &c->problem, t->x), turn);
    put(c, data, NL_RESIDUAL, scaled(t, &c->problem, t->residual), turn);
    put(c, data, NL_GAMMA, t->gain, turn);
    put(c, data, NL_BETA, t->beta, turn);
    put(c, data, NL_DY, t->dy, turn);
    for (size_t i = 0; t->jacobian && i < c->problem.n * c->problem.c; i++)
        nl_store(c->problem.dtype, data->input[NL_DY], i, i == (size_t)turn);
}

bool acceptance_meets(const acceptance *t, const nl_problem *p, const float *beta,
                      const double *got, const double *want, size_t count) {
    const bool backward = p->pass == NL_BACKWARD;
    const tolerance k = t->within[backward][p->dtype];
    const rule by = t->rule != NORM ? t->rule : backward ? SQUARES : CLOSE;
    double error = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        const double b = beta && t->rule == NORM ? (double)beta[nl_feature_of(p, i)] : 0,
                     large = fmax(fabs(want[i]), fabs(want[i] - b)), off = fabs(got[i] - want[i]),
                     most = k.atol + k.rtol * large;
        if (by == CLOSE && !(off <= most)) return false;
        if (by == FINITE && isfinite(want[i]) && off > most) return false;
        error += off * off, size += want[i] * want[i];
    }
    return by != SQUARES || error <= (t->rule == NORM ? k.rtol * k.rtol : k.rtol) * size;
}
