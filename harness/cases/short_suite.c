/* SPDX-License-Identifier: MIT */
#include "cases/suite.h"

#include <stdio.h>

#define TYPES "{f32,f16,bf16}"
#define LONG_ROWS                                                                               \
    TYPES "/2x{1024,14000}/normal,f32/{2x{300,768,896,1000,1536,2048,2560,3072,4096,5120,7168," \
          "8192},1x65537}/normal"

/* The end of each case's spelling, after LAYER/PASS/; NULL: there is no case. */
static const struct group {
    const char *subject, *cases[FAMILIES];
    const char *residual[FAMILY_ROW_BACKWARD + 1]; /* more cases, for layers with a residual */
} groups[] = {
    {"a small case", .cases = {"f32/3x7/normal", "f32/3x7/normal", "f32/5x3x2/normal",
                               "f32/5x3x2/normal", "f32/5x3x2/normal"}},
    {"16-bit storage",
     .cases = {"{f16,bf16}/3x7/normal", "{f16,bf16}/3x7/normal", "{f16,bf16}/5x3x2/normal",
               "{f16,bf16}/5x3x2/normal", "{f16,bf16}/5x3x2/normal"}},
    {"every narrow width",
     .cases = {TYPES "/3x{1..67}/normal,f32/3x{68..131}/normal",
               TYPES "/3x{1..67}/normal,f32/3x{68..131}/normal", TYPES "/3x{1..33}x{1,2,17}/normal",
               TYPES "/3x{1..33}x{1,2,17}/normal", TYPES "/3x{1..33}x{1,2,17}/normal"}},
    {"one row, no row, many rows",
     .cases = {"f32/{1x5,0x5,100x5}/normal", "f32/{1x5,0x5,100x5}/normal",
               "f32/{2x5,0x5,100x5}/normal", "f32/{2x5,0x5,100x5}/normal",
               "f32/{1x5,0x5,100x5}/normal"}},
    {"residual, gaps between rows",
     .residual = {TYPES
                  "/{3x{7,64}/normal/residual{,/rounded-sum},12x{5,64}/normal/residual"
                  "/gap-x=1/gap-residual=2/gap-y=3/gap-residual_out=4{,/inner=4/outer-gap=65}}",
                  TYPES "/{3x{7,64}/normal/residual,12x{5,64}/normal/residual"
                        "/gap-x=1/gap-dresidual=2/gap-dx=3/gap-dy=4{,/inner=4/outer-gap=65}}"}},
    {"cast before the weight",
     .cases = {"{f16,bf16}/3x{7,64}/normal/cast-before-weight", NULL,
               "{f16,bf16}/9x{7,3x49}/normal/cast-before-weight", NULL,
               "{f16,bf16}/9x{7,3x49}/normal/cast-before-weight"},
     .residual = {"{f16,bf16}/3x{7,64}/normal/residual/cast-before-weight"}},
    {"in place",
     .cases = {TYPES "/3x{7,64}/normal/in-place", TYPES "/3x{7,64}/normal/in-place",
               TYPES "/9x{7,3x49}/normal/in-place", TYPES "/9x{7,3x49}/normal/in-place",
               TYPES "/9x{7,3x49}/normal/in-place"},
     .residual = {TYPES "/3x{7,64}/normal/residual/in-place",
                  TYPES "/3x{7,64}/normal/residual/in-place"}},
    {"arguments left out",
     .cases =
         {"f32/3x{7,64}/normal{/no-affine,/no-gamma,/no-rstd}",
          "f32/3x{7,64}/normal{/no-affine,/no-gamma,/no-dgamma}",
          "f32/9x{7,3x49}/normal{/no-affine,/no-gamma,/no-beta,/no-rstd,/no-mean,/no-running_mean}",
          "f32/9x{7,3x49}/normal{/no-affine,/no-gamma,/no-dgamma,/no-dbeta}",
          "f32/9x{7,3x49}/normal{/no-affine,/no-gamma,/no-beta}"},
     .residual = {"f32/3x{7,64}/normal/residual/no-residual_out"}},
    {"another eps, another momentum",
     .cases = {"f32/3x7/normal/eps=0.01", "f32/3x7/normal/eps=0.01",
               "f32/9x{7,3x49}/normal/eps=0.01/momentum=0.4", "f32/9x{7,3x49}/normal/eps=0.01",
               "f32/9x{7,3x49}/normal/eps=0.01"}},
    {"offset and constant data", .cases = {TYPES "/9x{7,64}/{offset:16,constant,zeros}",
                                           TYPES "/9x{7,64}/{offset:16,constant,zeros}",
                                           TYPES "/9x{7,3x49}/{offset:16,constant,zeros}",
                                           TYPES "/9x{7,3x49}/{offset:16,constant,zeros}",
                                           TYPES "/9x{7,3x49}/{offset:16,constant,zeros}"}},
    {"outliers, uneven sums",
     .cases = {"f32/3x{64,1530,4099}/{outliers,first:1e4,last:1e4,head:1e6,alternating:1e6}",
               "f32/3x{64,1530,4099}/{outliers,first:1e4,last:1e4,alternating:1e6}",
               "f32/{3x2x1363,4099x2}/{outliers,first:1e4,last:1e4,head:1e6}",
               "f32/{3x2x1363,4099x2}/{outliers,first:1e4,last:1e4}", TYPES "/8x5x49/outliers"}},
    {"huge and tiny values",
     .cases = {"f32/9x{7,64}/{huge,tiny}", NULL, "f32/9x{7,3x49}/{huge,tiny}", NULL, NULL}},
    {"NaN and infinity", .cases = {TYPES "/9x{7,64}/{nan,inf}", NULL, TYPES "/9x{7,3x49}/{nan,inf}",
                                   NULL, TYPES "/9x{7,3x49}/{nan,inf}"}},
    {"long rows",
     .cases = {LONG_ROWS, LONG_ROWS, TYPES "/2x{1024,3x3005}/normal,f32/16384x5/normal",
               TYPES "/2x{1024,3x3005}/normal,f32/16384x5/normal",
               TYPES "/2x{1024,3x3005}/normal,f32/16384x5/normal"}},
    {"three threads", .cases = {"f32/{5x7,64x1024,1x32768}/normal/threads=3",
                                "f32/{5x7,64x1024,1x65536}/normal/threads=3",
                                "f32/{5x7,64x1024,8x4x1024}/normal/threads=3",
                                "f32/{5x7,64x1024,16x4x1024}/normal/threads=3",
                                "f32/{5x7,64x1024,8x4x1024}/normal/threads=3"}},
};

const char *short_suite_subject(size_t group) {
    return group < sizeof groups / sizeof *groups ? groups[group].subject : NULL;
}

static family family_of(nl_op op, nl_pass pass) {
    if (!nl_layers[op].channels_first)
        return pass == NL_BACKWARD ? FAMILY_ROW_BACKWARD : FAMILY_ROW_FORWARD;
    return pass == NL_FORWARD    ? FAMILY_BATCH_FORWARD
           : pass == NL_BACKWARD ? FAMILY_BATCH_BACKWARD
                                 : FAMILY_INFERENCE;
}

bool short_suite_add(size_t group, const nl_impl *impl, case_list *list, char *error,
                     size_t error_size) {
    const size_t before = list->count;
    size_t kept = before;
    for (nl_op op = 0; op < NL_OPS; op++)
        for (nl_pass pass = 0; pass < NL_PASSES; pass++) {
            const bool takes = impl->ops & NL_BIT(op) && impl->passes & NL_BIT(pass) &&
                               (nl_layers[op].running || pass != NL_INFERENCE);
            const family of = family_of(op, pass);
            const char *cases = groups[group].cases[of];
            const char *more = nl_layers[op].residual ? groups[group].residual[of] : NULL;
            char text[CASE_TEXT];
            if (!takes || (!cases && !more)) continue;
            snprintf(text, sizeof text, "%s/%s/{%s%s%s}", nl_op_name(op), nl_pass_name(pass),
                     cases ? cases : "", cases && more ? "," : "", more ? more : "");
            if (!cases_add(list, text, error, error_size)) return false;
        }
    for (size_t i = before; i < list->count; i++)
        if (nl_accepts(impl, &list->items[i].problem)) list->items[kept++] = list->items[i];
    list->count = kept;
    return true;
}
