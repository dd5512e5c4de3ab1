/* Bad cases are refused, and the message names the wrong part. SPDX-License-Identifier: MIT */
#include "cases/case.h"
#include "support.h"

static char error[700];

/* The message must name the part in < >; a leading "/" means rmsnorm/forward/f32/. */
Test(refused_cases, part) {
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

/* Tests the messages about a case that is too long, a missing brace and a missing file. */
Test(refused_cases, message) {
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
        {"rmsnorm/forward/f32/2x{1,2/\x1b[31mnan", "control character 0x1b"},
        {"rmsnorm/forward/f32/2x2/na\nn", "control character 0x0a"},
        {"rmsnorm/forward/f32/file/npy:/no/such.npy", "/no/such.npy"},
        {"layernorm/forward/f32/3x4x5/normal", "the shape is NxC"},
        {"layernorm/inference/f32/3x4/normal", "write forward"},
        {"layernorm/forward/f32/3x0/normal", "at least 1"},
        {"layernorm/forward/f32/3x4/normal/eps=-1", "eps must not be negative"},
        {"batchnorm/forward/f32/3x4/normal/momentum=2", "from 0 to 1"},
        {"batchnorm/forward/f32/1x4/normal", "more than one value per channel"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (cases_add(&list, wrong[i][0], error, sizeof error) || !strstr(error, wrong[i][1]))
            cr_assert_fail("'%s': \"%s\"", wrong[i][0], error);
    cases_free(&list);
}

/* A random problem is refused if and only if the library refuses it. In a call without arguments,
 * the library reports a missing argument only after it has accepted the problem. */
Test(refused_cases, as_the_library_does) {
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
