/* Parameters stored in x's type give the same bits as if stored as floats, and their gradients are
 * rounded once, to nearest even. SPDX-License-Identifier: MIT */
#include "trial.h"

enum { N = 24, C = 150, S = 3, ELEMENTS = N * C * S };

static nl_problem draw(uint64_t i) {
    nl_problem p = {.op = (nl_op)below(NL_OPS, 1, i), .s = 1, .eps = 1e-5f, .momentum = 0.1f};
    p.pass = below(2, 2, i) ? NL_BACKWARD : NL_FORWARD;
    p.dtype = below(2, 3, i) ? NL_F16 : NL_BF16, p.n = 2 + below(N - 1, 4, i);
    p.c = 1 + below(C, 5, i);
    if (p.op == NL_BATCHNORM) p.s = 1 + below(S, 6, i);
    return p;
}

static float x[ELEMENTS / 2], dy[ELEMENTS / 2], out[2][ELEMENTS / 2], gains[2][2][C], sums[2][2][C],
    mean[C], rstd[C];

static nl_status call(const nl_problem *p, int k, bool gain, bool shift, int threads) {
    const bool backward = p->pass == NL_BACKWARD;
    return call_with(NULL, p, threads,
                     (void *[NL_ARGS]){[NL_X] = x,
                                       [NL_DY] = dy,
                                       [NL_GATE] = dy,
                                       [NL_GAMMA] = gain ? gains[k][0] : NULL,
                                       [NL_BETA] = shift ? gains[k][1] : NULL,
                                       [NL_MEAN] = backward ? mean : NULL,
                                       [NL_RSTD] = backward ? rstd : NULL,
                                       [NL_Y] = out[k],
                                       [NL_DX] = out[k],
                                       [NL_DGAMMA] = gain ? sums[k][0] : NULL,
                                       [NL_DBETA] = shift ? sums[k][1] : NULL});
}

static bool rounded(const nl_problem *p, int which) {
    for (size_t j = 0; j < p->c; j++) {
        uint32_t due; /* float's size, although the type has 16 bits */
        nl_store(p->dtype, &due, 0, sums[0][which][j]);
        if (memcmp(&due, (uint16_t *)sums[1][which] + j, sizeof(uint16_t))) return false;
    }
    return true;
}

Test(parameters, as_floats) {
    for (uint64_t i = 0; i < 600; i++) {
        const nl_problem p = draw(i);
        nl_problem narrow = p;
        narrow.parameters = p.dtype;
        const size_t count = p.n * p.c * p.s;
        const bool gain = below(4, 7, i), shift = below(4, 8, i) && nl_layers[p.op].beta;
        for (size_t e = 0; e < count; e++) {
            nl_store(p.dtype, x, e, (float)random_normal(10, e + i));
            nl_store(p.dtype, dy, e, (float)random_normal(11, e + i));
        }
        for (size_t j = 0; j < C; j++) mean[j] = 0.1f, rstd[j] = 0.9f;
        for (int which = 0; which < 2; which++)
            for (size_t j = 0; j < p.c; j++) {
                nl_store(p.dtype, gains[1][which], j, (float)random_normal(12 + which, j + i));
                gains[0][which][j] = nl_load(p.dtype, gains[1][which], j);
            }
        const int threads = 1 + (int)below(3, 9, i);
        cr_assert(!call(&p, 0, gain, shift, threads) && !call(&narrow, 1, gain, shift, threads),
                  "%s", nl_message());
        bool right = memcmp(out[0], out[1], count * nl_dtype_size(p.dtype)) == 0;
        if (p.pass == NL_BACKWARD && gain) right = right && rounded(&p, 0);
        if (p.pass == NL_BACKWARD && shift) right = right && rounded(&p, 1);
        cr_assert(right, "draw %llu: %s", (unsigned long long)i, spelled(&p));
    }
}
