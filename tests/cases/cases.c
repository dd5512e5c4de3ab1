/* Tests the spelling of a case: every part's meaning, and the bytes moved, as computed by hand.
 * SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "cases/data.h"
#include "base/npy.h"
#include "folder.h"
#include "support.h"

static char error[700];

/* Describes a case: the problem, the data, then every setting that is not the default. */
static const char *describe(const nl_case *c) {
    static const char *const caches[] = {"", " rotating", " cold"};
    static char text[700];
    const nl_problem *p = &c->problem;
    static const char *const stores[] = {"", " store-cached", " store-streaming"};
    int n = snprintf(text, sizeof text, "%s %s %s %zu %zu %zu %s%s%s%s%s%s%s", nl_op_name(p->op),
                     nl_pass_name(p->pass), nl_dtype_name(p->dtype), p->n, p->c, p->s, c->data,
                     p->casting == NL_CAST_BEFORE_WEIGHT ? " cast" : "",
                     p->biased_running_var ? " biased" : "", c->residual ? " residual" : "",
                     caches[c->cache], c->streaming ? " streaming" : "", stores[p->stores]);
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (c->absent & NL_BIT(a)) n += sprintf(text + n, " no-%s", nl_arg_name(a, p->pass));
        if (c->in_place & NL_BIT(a)) n += sprintf(text + n, " over-%s", nl_arg_name(a, p->pass));
    }
    if (c->threads) n += sprintf(text + n, " threads %d", c->threads);
    if (c->gain != 1) n += sprintf(text + n, " gain %g", (double)c->gain);
    if (c->team) n += sprintf(text + n, " team %d", c->team);
    for (nl_arg a = 0; a < NL_ARGS; a++) {
        if (c->skew[a]) n += sprintf(text + n, " %s+%u", nl_arg_name(a, p->pass), c->skew[a]);
        if (a != NL_X && c->kind[a].value)
            n += sprintf(text + n, " %s:%g", nl_arg_name(a, p->pass), c->kind[a].k);
    }
    if (p->eps != 1e-5f) n += sprintf(text + n, " eps %g", (double)p->eps);
    if (p->momentum != 0.1f) sprintf(text + n, " momentum %g", (double)p->momentum);
    return text;
}

/* The case must keep its text; c.options is the index of the first part after the data. */
static void expect(const char *text, const char *meaning) {
    nl_case c;
    if (!case_parse(text, &c, error, sizeof error)) cr_assert_fail("%s", error);
    const char *got = describe(&c), *rest = strstr(text, c.data) + strlen(c.data);
    if (strcmp(got, meaning)) cr_assert_fail("%s: is '%s', should be '%s'", text, got, meaning);
    if (strcmp(c.text, text) || strcmp(c.text + c.options, rest + (*rest == '/')))
        cr_assert_fail("%s: text '%s', options '%s'", text, c.text, c.text + c.options);
}

Test(cases, parts) {
    for (int i = 0; i < NL_OPS * NL_PASSES * NL_DTYPES; i++) {
        const char *op = nl_op_name((nl_op)(i / NL_DTYPES / NL_PASSES));
        const char *pass = nl_pass_name((nl_pass)(i / NL_DTYPES % NL_PASSES));
        const char *dtype = nl_dtype_name((nl_dtype)(i % NL_DTYPES));
        const nl_layer *l = &nl_layers[i / NL_DTYPES / NL_PASSES];
        const int s = l->channels_first ? 4 : 1;
        char text[100], meaning[100];
        if (!l->running && strcmp(pass, "inference") == 0) continue;
        snprintf(text, sizeof text, "%s/%s/%s/2x3x%d/normal", op, pass, dtype, s);
        snprintf(meaning, sizeof meaning, "%s %s %s 2 3 %d normal", op, pass, dtype, s);
        expect(text, meaning);
    }
    expect("gemma/forward/f32/0x10/nan", "qwen2_rmsnorm forward f32 0 10 1 nan");
    expect("qwen3next/forward/f16/18446744073709551615x007/offset:-1e3",
           "qwen2_rmsnorm forward f16 18446744073709551615 7 1 offset:-1e3");
}

/* The parts after the shape. A file name ends at the first ".npy" that ends a part. */
Test(cases, options_and_paths) {
    char good[] =
        "uniform/residual uniform residual;exact/in-place exact over-x;"
        "inf/no-affine inf no-gamma no-beta;huge/cast-before-weight huge cast;"
        "tiny/biased-running-var tiny biased;constant/eps=0 constant eps 0;"
        "outliers/eps=0x1p-2 outliers eps 0.25;nan/eps=2 nan eps 2;"
        "offset:16/momentum=0.99 offset:16 momentum 0.99;spike:7/gain=1e-5 spike:7 gain 1e-05;"
        "normal/cold/threads=4096 normal cold threads 4096;"
        "normal/skew=64 normal y+64 residual_out+64 dx+64 dgamma+64 dbeta+64;"
        "normal/skew-x=4/skew-gamma=60/team=1 normal team 1 x+4 gamma+60;"
        "nan/gamma=scale:1e30/beta=zeros nan gamma:1e+30 beta:0;"
        "nan/residual=offset:-3 nan residual residual:-3;"
        "normal/rotating/threads=1/skew=0/streaming normal rotating streaming threads 1;"
        "zeros/in-place/residual/eps=1 zeros residual over-x over-residual eps 1;"
        "zeros/residual/in-place=residual zeros residual over-residual;"
        "zeros/in-place=x/residual zeros residual over-x;"
        "zeros/in-place/residual/no-residual_out zeros residual over-x no-residual_out;"
        "nan/no-gamma/no-rstd nan no-gamma no-rstd;nan/no-mean/no-beta nan no-beta no-mean;"
        "nan/stores=cached nan store-cached;nan/stores=streaming nan store-streaming;"
        "npy:x.npy npy:x.npy;npy:a/b.c/x.npy npy:a/b.c/x.npy;"
        "npy:/a/b/x.npy/residual npy:/a/b/x.npy residual;"
        "npy:../x.npyz/y.npy/eps=0 npy:../x.npyz/y.npy eps 0;"
        "npy:plain/residual npy:plain residual";
    for (char *t = strtok(good, ";"); t; t = strtok(NULL, ";")) {
        char text[200], meaning[200];
        int length = (int)strcspn(t, " ");
        snprintf(text, sizeof text, "layernorm/forward/f32/2x3/%.*s", length, t);
        snprintf(meaning, sizeof meaning, "layernorm forward f32 2 3 1%s", t + length);
        expect(text, meaning);
    }
}

/* In backward dx may overwrite dy or dresidual. If one running statistic is absent, both are. */
Test(cases, arguments_of_a_pass) {
    expect("layernorm/backward/f32/2x3/nan/residual/in-place",
           "layernorm backward f32 2 3 1 nan residual over-dy");
    expect("rmsnorm/backward/f32/2x3/nan/in-place=dresidual/residual/no-dgamma/no-affine",
           "rmsnorm backward f32 2 3 1 nan residual over-dresidual no-gamma no-dgamma");
    expect("batchnorm/backward/f32/2x3/nan/no-dbeta", "batchnorm backward f32 2 3 1 nan no-dbeta");
    expect("batchnorm/forward/f32/2x3/nan/no-running_var",
           "batchnorm forward f32 2 3 1 nan no-running_mean no-running_var");
    expect("batchnorm/inference/f32/2x3/nan/no-affine/in-place",
           "batchnorm inference f32 2 3 1 nan over-x no-gamma no-beta");
}

/* The shape `file` is the shape of the data, which must have an axis to normalize. */
Test(cases, shape_of_a_file) {
    static const struct {
        size_t rank, shape[3];
        const char *means;
    } files[] = {{1, {5}, "1 5"},    {2, {4, 3}, "4 3"}, {3, {2, 3, 7}, "6 7"},
                 {2, {0, 3}, "0 3"}, {0, {0}, ""},       {2, {3, 0}, ""}};
    char text[400], meaning[400];
    float data[42] = {0};
    nl_case c;
    enter_folder("a.npy");
    snprintf(text, sizeof text, "rmsnorm/forward/f32/file/npy:%s", path);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *means = files[i].means;
        bool made = npy_write(path, 'f', files[i].rank, files[i].shape, data, error, sizeof error);
        snprintf(meaning, sizeof meaning, "rmsnorm forward f32 %s 1 npy:%s", means, path);
        if (*means)
            expect(text, meaning);
        else if (!made || case_parse(text, &c, error, sizeof error) || !strstr(error, path))
            cr_assert_fail("file %zu, with no last axis: \"%s\"", i, error);
    }
    leave_folder();
}

/* x, residual, dy, y, residual_out and dx are tensors; other arguments have c or n floats. */
Test(cases, bytes) {
    static const struct {
        const char *text;
        size_t bytes, state;
    } cases[] = {
        {"layernorm/forward/f32/2x3/nan", 2 * 24 + 2 * 12 + 2 * 8, 2 * 8},
        {"layernorm/forward/f32/2x3/nan/residual/in-place", 4 * 24 + 2 * 12 + 2 * 8, 2 * 8},
        {"layernorm/backward/f32/2x3/nan", 3 * 24 + 12 + 2 * 8 + 2 * 12, 2 * 8},
        {"rmsnorm/forward/f16/2x3/nan/residual", 4 * 12 + 12 + 8, 8},
        {"gemma/forward/f32/2x3/nan", 2 * 24 + 12 + 8, 8},
        {"rmsnorm/backward/f32/2x3/nan", 3 * 24 + 12 + 8 + 12, 8},
        {"batchnorm/forward/f32/2x3x4/nan", 2 * 96 + 2 * 12 + 2 * 12 + 4 * 12, 2 * 12},
        {"batchnorm/inference/f32/2x3x4/nan/no-affine", 2 * 96 + 2 * 12, 0},
        {"batchnorm/forward/f32/2x3x4/nan/no-running_mean/no-beta", 2 * 96 + 12 + 2 * 12, 2 * 12},
        {"layernorm/forward/f32/2x3/nan/residual/no-residual_out/no-mean", 3 * 24 + 2 * 12 + 8, 8},
        {"batchnorm/backward/f16/2x3x4/nan", 3 * 48 + 12 + 2 * 12 + 2 * 12, 2 * 12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nl_case c;
        if (!case_parse(cases[i].text, &c, error, sizeof error)) cr_assert_fail("%s", error);
        if (case_bytes(&c) != cases[i].bytes || case_state_bytes(&c) != cases[i].state)
            cr_assert_fail("%s: %zu, state %zu", c.text, case_bytes(&c), case_state_bytes(&c));
    }
}
