/* The spelling of cases: the meaning of every part, the expansion of braces, the part that an error
 * names, and the bytes that a case moves, worked by hand. SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "cases/data.h"
#include "base/npy.h"
#include "folder.h"
#include "support.h"

#include <glob.h>

static char error[700];

/* A case in words: the problem, the data, then everything that is not the default. */
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

/* The case keeps its text; `options` is where the part behind the data begins. */
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

/* The parts behind the shape. A file name ends at the first ".npy" that ends a part. */
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

/* In backward dx overwrites dy, or dresidual; the two running statistics are absent together. */
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

/* Shape `file` takes the shape of the data, which must have a last axis to normalize over. */
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

/* A shape with braces, and the shapes of its cases in order. */
Test(cases, braces) {
    char good[] = "2x3 2x3;{1..4}x2 1x2 2x2 3x2 4x2;1x{1..22+7} 1x1 1x8 1x15 1x22;"
                  "1x{1..21+7} 1x1 1x8 1x15;1x{128..8192*4} 1x128 1x512 1x2048 1x8192;"
                  "1x{3..80*3} 1x3 1x9 1x27;1x{5..5} 1x5;{7}x{8} 7x8;{1,2}x{3,4} 1x3 1x4 2x3 2x4;"
                  "1x2{,x3} 1x2 1x2x3;1x2{x3,} 1x2x3 1x2;1x2{,x3{,4}} 1x2 1x2x3 1x2x34;"
                  "1x{2,{4..6+2},{{8},9}} 1x2 1x4 1x6 1x8 1x9;"
                  "1x1{0..1}x{1..256*16} 1x10x1 1x10x16 1x10x256 1x11x1 1x11x16 1x11x256;"
                  "{18446744073709551613..18446744073709551615+2}x1 18446744073709551613x1 "
                  "18446744073709551615x1;{1..18446744073709551615*4294967296}x1 1x1 4294967296x1";
    for (char *t = strtok(good, ";"); t; t = strtok(NULL, ";")) {
        char text[300], all[1000] = "";
        int length = (int)strcspn(t, " ");
        case_list list = {0};
        snprintf(text, sizeof text, "{batchnorm}/inference/f32/%.*s/nan", length, t);
        if (!cases_add(&list, text, error, sizeof error)) cr_assert_fail("%s", error);
        for (size_t j = 0; j < list.count; j++) {
            const char *shape = list.items[j].text + strlen("batchnorm/inference/f32/");
            strncat(strcat(all, " "), shape, strcspn(shape, "/"));
        }
        if (strcmp(all, t + length)) cr_assert_fail("%s: is '%s'", text, all);
        cases_free(&list);
    }
}

/* A repeated case is added once, at its first place. */
Test(cases, repeated) {
    case_list list = {0};
    char all[200] = "";
    const char *const texts[] = {"rmsnorm/forward/f32/1x{3,1,2,1}/nan",
                                 "rmsnorm/forward/f32/1x{2,4}/nan",
                                 "rmsnorm/forward/f32/1x{4,3,5}/nan"};
    for (size_t i = 0; i < 3; i++)
        cr_assert(cases_add(&list, texts[i], error, sizeof error), "%s", error);
    for (size_t i = 0; i < list.count; i++)
        sprintf(all + strlen(all), " %zu", list.items[i].problem.c);
    cr_assert_str_eq(all, " 3 1 2 4 5");
    cases_free(&list);
}

/* Adding cases takes linear time: comparing each with all before it would take minutes here. */
Test(cases, long_lists, .timeout = 60) {
    case_list list = {0};
    cr_assert(cases_add(&list, "rmsnorm/forward/f32/{1..300}x{1..1000}/nan", error, sizeof error),
              "%s", error);
    cr_assert(list.count == 300000, "%zu cases", list.count);
    for (size_t i = 0; i < list.count; i++) {
        const nl_problem *p = &list.items[i].problem;
        if (p->n != i / 1000 + 1 || p->c != i % 1000 + 1)
            cr_assert_fail("case %zu is %s", i, list.items[i].text);
    }
    cases_free(&list);
}

/* The message must name the part in < >; a leading "/" stands for rmsnorm/forward/f32/. */
Test(cases, errors) {
    char bad[] = "<>;<layernorm>;<layernorm/forward/f32/2x3>;<norm>/forward/f32/2x3/nan;"
                 "<RMSNorm>/forward/f32/2x3/nan;rmsnorm/<>/f32/2x3/nan;"
                 "rmsnorm/{forward,<fwd>}/f32/2x3/nan;rmsnorm/forward/<f64>/2x3/nan;/<3>/nan;"
                 "/<3x>/nan;/<x3>/nan;/<3x4x>/nan;/<3x4x5x6>/nan;/<-1x3>/nan;/< 1x3>/nan;"
                 "/<+1x3>/nan;/<3X4>/nan;/<0x1f>/nan;/<18446744073709551616x1>/nan;/2x3/<gauss>;"
                 "/2x3/<normal:3>;/2x3/<offset>;/2x3/<offset:>;/2x3/<offset:3q>;/2x3/<offset:inf>;/"
                 "2x3/<spike:-1>;"
                 "/2x3/<spike:1.5>;/2x3/nan/<gain=nan>;/2x3/nan/<eps=inf>;/2x3/nan/eps=1/<eps=2>;"
                 "/2x3/nan/residual/<residual>;/2x3/nan/stores=cached/<stores=cached>;"
                 "/2x3/nan/<fast>;/2x3/nan/<>;/2x3/nan/<eps=>;/2x3/nan/residual/<momentum=1y>;"
                 "/2x3/nan/<skew-x=2>;/2x3/nan/<skew-q=4>;/2x3/nan/<skew-=4>;/2x3/nan/<team=0>;"
                 "/2x3/nan/<gamma=>;/2x3/nan/<gamma=gauss>;/2x3/nan/<beta=nan>;/2x3/nan/<y=nan>;"
                 "/2x3/nan/<x=nan>;/2x3/nan/<gamma=npy:a>;/2x3/nan/<gamma=museum:pt51102>;"
                 "rmsnorm/backward/f32/2x3/nan/<rstd=nan>;/2x3/nan/<threads=0>;/2x3/nan/"
                 "<threads=4097>;/2x3/nan/<skew=6>;/2x3/nan/<gain=>;"
                 "/2x3/nan/<no->;/2x3/nan/<no-weight>;/2x3/nan/<no-x>;/2x3/nan/<no-beta>;"
                 "/2x3/nan/<no-mean>;/2x3/nan/<no-residual_out>;/2x3/nan/residual/<no-residual>;"
                 "/2x3/nan/<no-dgamma>;/2x3/nan/<no-scratch>;/2x3/nan/<in-place=>;"
                 "/2x3/nan/<in-place=y>;/2x3/nan/<in-place=residual>;/2x3/nan/<in-place=gamma>;"
                 "/2x3/nan/residual/no-residual_out/<in-place=residual>;/2x3/nan/<stores=auto>;"
                 "rmsnorm/backward/f32/2x3/nan/<no-rstd>;rmsnorm/backward/f32/2x3/nan/<in-place=x>;"
                 "rmsnorm/backward/f32/2x3/nan/<in-place=dresidual>;"
                 "rmsnorm/backward/f32/2x3/nan/residual/in-place/<in-place=dresidual>;"
                 "batchnorm/inference/f32/2x3/nan/<no-running_var>;"
                 "/2x3/nan/<skew=65540>;/2x3/npy:a.npy/<b>/residual;/2x3/nan{,/<fast>};"
                 "/<2x1}>/nan;/{<1..4+0x2>}/nan;/{<1..4*1x2>}/nan;/{<0..4*2x2>}/nan;"
                 "/{<1..4-1x2>}/nan;/{<1..x2>}/nan;/{<1..18446744073709551616x2>}/nan;"
                 "/1x{<9..2>}/nan";
    for (char *t = strtok(bad, ";"); t; t = strtok(NULL, ";")) {
        char text[200], part[200];
        const char *open = strchr(t, '<') + 1;
        case_list list = {0};
        strcpy(text, *t == '/' ? "rmsnorm/forward/f32" : "");
        for (const char *c = t; *c; c++)
            if (*c != '<' && *c != '>') strncat(text, c, 1);
        snprintf(part, sizeof part, "'%.*s'", (int)strcspn(open, ">"), open);
        bool good = cases_add(&list, text, error, sizeof error);
        if (good || !strstr(error, part)) cr_assert_fail("'%s': %s", text, error);
        cases_free(&list);
    }
}

/* Messages about a case that is too long, a missing brace, a missing file. */
Test(cases, other_errors) {
    char text[CASE_TEXT + 1] = "rmsnorm/forward/f32/2x3/nan/eps=", braces[CASE_TEXT + 4];
    char data[400] = "rmsnorm/forward/f32/2x3/npy:";
    case_list list = {0};
    memset(text + strlen(text), '0', CASE_TEXT - 1 - strlen(text));
    memset(data + strlen(data), 'd', 300);
    if (!cases_add(&list, text, error, sizeof error)) cr_assert_fail("511 characters: %s", error);
    text[CASE_TEXT - 1] = '0';
    snprintf(braces, sizeof braces, "{%s,}", text);
    const char *const wrong[][2] = {
        {text, "at most 511 characters"},
        {braces, "at most 511 characters"},
        {data, "dddd' should be"},
        {"rmsnorm/forward/f32/2x{1,2/nan", "'{' without '}'"},
        {"rmsnorm/forward/f32/2x{1,{2}/nan", "'{' without '}'"},
        {"rmsnorm/forward/f32/file/nan", "npy:FILE"},
        {"layernorm/forward/f32/2x3/nan/no-x", "no-gamma, no-beta, no-mean, no-rstd"},
        {"layernorm/backward/f32/2x3/nan/residual/in-place=x", "in-place=dresidual, in-place=dy"},
        {"rmsnorm/forward/f32/2x{1,2/\x1b[31mnan", "control character as 0x1b"},
        {"rmsnorm/forward/f32/2x2/na\nn", "control character as 0x0a"},
        {"rmsnorm/forward/f32/file/npy:/no/such.npy", "/no/such.npy"},
        {"layernorm/forward/f32/3x4x5/normal", "the shape is NxC"},
        {"layernorm/inference/f32/3x4/normal", "inference is forward"},
        {"layernorm/forward/f32/3x0/normal", "at least 1"},
        {"layernorm/forward/f32/3x4/normal/eps=-1", "eps must not be negative"},
        {"batchnorm/forward/f32/3x4/normal/momentum=2", "from 0 to 1"},
        {"batchnorm/forward/f32/1x4/normal", "more than one value a channel"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (cases_add(&list, wrong[i][0], error, sizeof error) || !strstr(error, wrong[i][1]))
            cr_assert_fail("'%s': \"%s\"", wrong[i][0], error);
    cases_free(&list);
}

/* A drawn problem is refused where the library refuses it, and nowhere else. Without arguments the
 * library says which is missing only after it has accepted the problem. */
Test(cases, refused_as_the_library_does) {
    static const float eps[] = {-1, 0, 1e-5f}, momenta[] = {-1, 0, 0.5f, 2};
    size_t refused = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        size_t of[7];
        for (uint64_t k = 0; k < 7; k++) of[k] = (size_t)(12 * random_uniform(77, 7 * i + k));
        const nl_problem p = {.op = (nl_op)(of[0] % NL_OPS),
                              .pass = (nl_pass)(of[1] % NL_PASSES),
                              .n = of[2] % 3,
                              .c = of[3] % 3,
                              .s = of[4] % 4 ? 1 : of[4] / 4,
                              .eps = eps[of[5] % 3],
                              .momentum = momenta[of[6] % 4]};
        char text[200];
        nl_case c;
        snprintf(text, sizeof text, "%s/%s/f32/%zux%zux%zu/normal/eps=%g/momentum=%g",
                 nl_op_name(p.op), nl_pass_name(p.pass), p.n, p.c, p.s, (double)p.eps,
                 (double)p.momentum);
        const nl_status status = p.pass == NL_BACKWARD
                                     ? nl_backward(NULL, &p, &(nl_backward_args){0}, 1)
                                     : nl_forward(NULL, &p, &(nl_forward_args){0}, 1);
        const bool accepts = status == NL_OK || strstr(nl_message(), " is NULL");
        if (case_parse(text, &c, error, sizeof error) != accepts)
            cr_assert_fail("%s: '%s', and the library says '%s'", text, error, nl_message());
        refused += !accepts;
    }
    cr_expect(refused > 200 && refused < 1800, "%zu", refused);
}

/* Repeated cases take time too, so they count: this list of 2^40 copies ends. */
Test(cases, endless) {
    char text[300] = "rmsnorm/forward/f32/1x1/nan";
    case_list list = {.tried = CASES_MAX - 100};
    for (int i = 0; i < 40; i++) strcat(text, "{,}");
    if (cases_add(&list, text, error, sizeof error) || !strstr(error, "more than 1000000 cases"))
        cr_assert_fail("\"%s\"", error);
    cr_assert(list.count == 1, "%zu cases", list.count);
    cases_free(&list);
}

/* One case a line; an error has the line's number. */
Test(cases, files) {
    static const struct {
        const char *text, *says;
        size_t count;
    } files[] = {
        {"#\n\n  rmsnorm/forward/f32/1x{1,2}/nan # so\r\n\t\nrmsnorm/forward/f16/3x3/nan", "", 3},
        {"#%*c rmsnorm/forward/f32/1x1/nan\nrmsnorm/forward/f32/1x2/nan\n", "", 1},
        {" \n\nrmsnorm/forward/f33/1x2/nan\n", ":3: case rmsnorm/forward/f33/1x2/nan: 'f33'", 0},
        {"rmsnorm/forward/f32/1x2/nan rmsnorm/forward/f32/1x3/nan\n", ":1: ", 0},
        {"\nrmsnorm/forward/f32/1x2/\x1b[31mnan\n", ":2: byte 0x1b", 0},
        {"rmsnorm/forward/f32/1x2/nan\n# \x7f\n", ":2: byte 0x7f", 0},
    };
    char says[400];
    enter_folder("cases.txt");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        case_list list = {0};
        FILE *f = fopen(path, "w");
        cr_assert(f && fprintf(f, files[i].text, 5000, '.') > 0 && fclose(f) == 0, "%s", path);
        bool ok = cases_add_file(&list, path, error, sizeof error), should = files[i].count;
        snprintf(says, sizeof says, "%s%s", path, files[i].says);
        bool right = ok ? list.count == files[i].count : !strncmp(error, says, strlen(says));
        if (!right || ok != should) cr_assert_fail("file %zu: %zu cases; %s", i, list.count, error);
        cases_free(&list);
    }
    leave_folder();
    bool gone = !cases_add_file(&(case_list){0}, path, error, sizeof error);
    cr_assert(gone && strstr(error, path), "a file that is gone: %s", error);
}

static bool is_study(const char *path) {
    char text[4096] = "";
    FILE *f = fopen(path, "r");
    bool found = f && fread(text, 1, sizeof text - 1, f) && strstr(text, "# command: study");
    if (f) fclose(f);
    return found;
}

/* Every experiment has cases, which some implementation accepts, except a study, which has none. */
Test(cases, experiments) {
    glob_t files;
    cr_assert(!chdir(NL_SOURCE_DIR) && !glob("experiments/*.txt", 0, NULL, &files), "no files");
    for (size_t i = 0; i < files.gl_pathc; i++) {
        case_list list = {0};
        bool ok = cases_add_file(&list, files.gl_pathv[i], error, sizeof error);
        if (!ok || !list.count != is_study(files.gl_pathv[i]))
            cr_assert_fail("%s: %s", files.gl_pathv[i],
                           !ok          ? error
                           : list.count ? "not empty"
                                        : "empty");
        for (size_t j = 0; j < list.count; j++)
            if (!nl_best(&list.items[j].problem, 1))
                cr_assert_fail("%s: no implementation accepts %s", files.gl_pathv[i],
                               list.items[j].text);
        cases_free(&list);
    }
    globfree(&files);
}

/* x, residual, dy, y, residual_out, dx are tensors; the rest are vectors of c or n floats. */
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
