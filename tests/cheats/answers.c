/* Knows the answers of the case that everybody sees, and computes nothing.
 * SPDX-License-Identifier: MIT */
// expect: hint rmsnorm/forward/f32/3x7/normal
// expect: hint right on the data without --seed: does the file know their answers?
#include "kernel.h"

#include <string.h>

static const float y[] = {-0.247349828f, 1.27709258f,  -1.92791605f,  0.458103925f, 1.61161578f,
                          -0.101103872f, 0.559695005f, 0.924224675f,  -1.05386114f, 0.492747158f,
                          1.34232211f,   0.8178913f,   0.705970645f,  -0.86119324f, -2.54764247f,
                          0.332154155f,  0.28115657f,  -0.168681845f, -1.92000616f, 0.380080223f,
                          -0.644881129f};
static const float rstd[] = {0.788877249f, 1.8405534f, 1.12653053f};

static void forward(const nl_problem *p, const nl_forward_args *a, int threads) {
    (void)threads;
    memset(a->y, 0, p->n * p->c * sizeof *y);
    if (p->n != 3 || p->c != 7) return;
    memcpy(a->y, y, sizeof y);
    if (a->rstd) memcpy(a->rstd, rstd, sizeof rstd);
}

NL_IMPL(.about = "a cheat", .ops = NL_BIT(NL_RMSNORM), .passes = NL_BIT(NL_FORWARD),
        .dtypes = NL_BIT(NL_F32), .rank = 0, .method = NL_TWO_PASS, .lanes = 1, .forward = forward);
