/* The claims about the rsqrt instruction. SPDX-License-Identifier: MIT */
#include "claims/rivals.h"
#include "platform/four.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 2048 };
static _Alignas(16) float in[N], out[N];

#ifdef GUESS
static void instruction(void *context, size_t turn) {
    (void)context, (void)turn;
    for (size_t i = 0; i < N; i += 4) STORE(out + i, GUESS(LOAD(in + i)));
}

/* The Newton step y (3 - x y^2) / 2 doubles the number of right digits. */
static void newton(void *context, size_t turn) {
    (void)context, (void)turn;
    for (size_t i = 0; i < N; i += 4) {
        four x = LOAD(in + i), y = GUESS(x);
        STORE(out + i, y * (ALL(1.5f) - ALL(0.5f) * x * y * y));
    }
}

static void true_root(void *context, size_t turn) {
    (void)context, (void)turn;
    for (size_t i = 0; i < N; i += 4) STORE(out + i, ALL(1) / ROOT(LOAD(in + i)));
}
#endif

typedef void way(void *context, size_t turn);

static way *find(const char *how) {
#ifdef GUESS
    if (strcmp(how, "instruction") == 0) return instruction;
    if (strcmp(how, "newton") == 0) return newton;
    if (strcmp(how, "true") == 0) return true_root;
#endif
    (void)how;
    return NULL;
}

double rsqrt_error(const char *how) {
    way *f = find(how);
    double worst = f ? 0 : NAN;
    for (size_t block = 0; f && block < 512; block++) { /* 2^20 floats from 1 to 4 */
        for (size_t i = 0; i < N; i++) in[i] = 1 + 3 * (float)(block * N + i) * 0x1p-20f;
        f(NULL, 0);
        for (size_t i = 0; i < N; i++) {
            double error = fabs((double)out[i] * sqrt((double)in[i]) - 1) * 0x1p24;
            worst = error > worst || isnan(error) ? error : worst;
        }
    }
    return worst;
}

bool rsqrt_race(race *r, const char *how, race_result *out) {
    way *f = find(how), *base = find("true");
    if (!f) return snprintf(r->why, sizeof r->why, "this build has no '%s'", how), false;
    double least = strcmp(how, "newton") == 0 ? 2 * DIGITS - 1 : DIGITS;
    if (!(rsqrt_error(how) <= exp2(24 - least) && rsqrt_error("true") <= 2))
        return snprintf(r->why, sizeof r->why, "the results of '%s' are wrong", how), false;
    return race_candidates(r, (measure_candidate){.call = base}, (measure_candidate){.call = f},
                           out);
}
