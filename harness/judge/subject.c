/* SPDX-License-Identifier: MIT */
#include "judge/subject.h"
#include "layer.h"
#include "verify/outputs.h"

#include <math.h>

double subject_units(const subject *s, size_t i, double y, long double low, long double high) {
    size_t j = nl_feature_of(s->p, i);
    long double gauge =
        fabsl(ref_gain(s->p, s->in->gamma, j)) * fmaxl(1, fabsl((long double)s->want->xhat[i]));
    if (s->in->beta) gauge += fabsl((long double)s->in->beta[j]);
    return error_units(s->p->dtype, y, low, high, gauge);
}
