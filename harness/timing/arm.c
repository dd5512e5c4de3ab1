/* SPDX-License-Identifier: MIT */
#include "timing/arm.h"
#include "base/clock.h"

#include <math.h>

void arm_call(void *context, size_t turn) {
    const arm *a = context;
    for (int i = 0; i < 2 && a->on[i]; i++) {
        instance *in = fixture_set(a->on[i], turn);
        in->impl = a->impl[i];
        instance_call(in, a->threads);
    }
}

void limit_arm_call(void *context, size_t turn) {
    const limit_arm *a = context;
    const instance *in = fixture_set(a->on, turn);
    bool backward = a->on->c.problem.pass == NL_BACKWARD;
    limit_job j = {.bytes = a->on->data.bytes[NL_X], .store = a->store};
    j.in[j.reads++] = in->at[NL_X];
    if (in->at[NL_DY]) j.in[j.reads++] = in->at[NL_DY];
    if (in->at[NL_RESIDUAL]) j.in[j.reads++] = in->at[NL_RESIDUAL];
    j.out[j.writes++] = backward ? in->at[NL_DX] : in->at[NL_Y];
    if (in->at[NL_RESIDUAL_OUT]) j.out[j.writes++] = in->at[NL_RESIDUAL_OUT];
    limit_move(&j, a->threads);
}

limit_arm limit_arm_make(const fixture *on, int threads) {
    enum { LARGE = 4 << 20, TRIALS = 4 };
    limit_arm a = {on, threads, on->c.streaming ? LIMIT_STREAM : LIMIT_ORDINARY};
    double least[] = {INFINITY, INFINITY};
    if (on->c.streaming || on->data.bytes[NL_X] < LARGE) return a;
    for (int i = 0; i < 2 * TRIALS; i++) {
        a.store = i % 2 ? LIMIT_STREAM : LIMIT_ORDINARY;
        double begin = clock_ns();
        limit_arm_call(&a, (size_t)i);
        least[i % 2] = fmin(least[i % 2], clock_ns() - begin);
    }
    a.store = least[1] < least[0] ? LIMIT_STREAM : LIMIT_ORDINARY;
    return a;
}

size_t limit_arm_bytes(const fixture *on) {
    size_t tensors = on->c.residual ? 4 : on->c.problem.pass == NL_BACKWARD ? 3 : 2;
    return tensors * on->data.bytes[NL_X];
}
