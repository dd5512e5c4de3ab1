/* The error of each demonstration has the expected size in units. With 16-bit arithmetic the
 * statistics are 16-bit numbers. SPDX-License-Identifier: MIT */
#include "trial.h"

TestSuite(demonstrations, .init = one_thread);

static const struct {
    const char *impl, *text;
    double least, most;
} shows[] = {
    {"half/rmsnorm_sum", "rmsnorm/forward/bf16/3x4096/normal", 60, 240},
    {"half/rmsnorm_pairwise", "rmsnorm/forward/bf16/3x4096/normal", 1.1, 6},
    {"half/rmsnorm_compensated", "rmsnorm/forward/bf16/3x4096/normal", 1.1, 6},
    {"half/rmsnorm_eps", "rmsnorm/forward/bf16/3x4096/normal", 0.9, 1.1},
    {"half/rmsnorm_sum", "gemma/forward/f16/3x16384/normal", 200, 1000},
    {"half/rmsnorm_pairwise", "gemma/forward/f16/3x16384/normal", 1.1, 6},
    {"half/rmsnorm_sum", "rmsnorm/forward/f16/2x2/museum:onnx8439/eps=0", 2048, 2048},
    {"half/rmsnorm_compensated", "rmsnorm/forward/f16/2x2/museum:onnx8439", INFINITY, INFINITY},
    {"half/rmsnorm_sum", "rmsnorm/forward/f16/3x16/scale:1e-4/eps=1e-12", 1e8, INFINITY},
    {"half/rmsnorm_eps", "rmsnorm/forward/f16/3x16/scale:1e-4/eps=1e-12", 0.5, 1.2},
    {"half/rmsnorm_eps", "rmsnorm/forward/f16/1x10/museum:pt41527/eps=1e-12", INFINITY, INFINITY},
    {"half/layernorm_sum", "layernorm/forward/bf16/3x4096/normal", 60, 240},
    {"half/layernorm_pairwise", "layernorm/forward/bf16/3x4096/normal", 1.1, 6},
    {"half/layernorm_compensated", "layernorm/forward/bf16/3x4096/normal", 1.1, 6},
    {"half/layernorm_compensated", "layernorm/forward/f16/3x64/offset:16", 5, 40},
    {"half/layernorm_eps", "layernorm/forward/bf16/3x4096/normal", 0.9, 1.1},
    {"half/layernorm_eps", "layernorm/forward/f16/1x10/museum:pt41527/eps=1e-12", INFINITY,
     INFINITY},
};

Test(demonstrations, show_what_they_are_for) {
    for (size_t k = 0; k < sizeof shows / sizeof *shows; k++) {
        trial t;
        const nl_impl *impl = nl_find(shows[k].impl, "c");
        cr_assert(impl && impl->demonstration, "%s is no demonstration", shows[k].impl);
        trial_make(&t, shows[k].text), trial_place(&t, impl), trial_call(&t, 1);
        verdict v = verify(&t.c, &t.data, &t.want, impl, PLACE_END, 1);
        bool right =
            v.outcome == OUTCOME_DEMO && v.error_u >= shows[k].least && v.error_u <= shows[k].most;
        const float *rstd = t.in.at[NL_RSTD];
        for (size_t g = 0; !strstr(impl->name, "_eps") && g < t.c.problem.n; g++)
            right &= isnan(rstd[g]) || nl_round(t.c.problem.dtype, rstd[g]) == rstd[g];
        if (!right)
            cr_assert_fail("%s on %s: %s, %g units, rstd %.9g", impl->name, t.c.text,
                           outcome_name(v.outcome), v.error_u, (double)rstd[0]);
        trial_end(&t);
    }
}
