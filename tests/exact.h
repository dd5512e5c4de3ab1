/* Expected values, from MPFR, for the tests of the reference. SPDX-License-Identifier: MIT */
#pragma once

#include "runs.h"

#include <mpfr.h>

/* The layers in 400 bits: enough even for the variance E[x^2] - E[x]^2 and for gradients by
 * difference quotients of the loss, sum(dy * gain * xhat). */
typedef struct exact {
    mpfr_t x[MAX_GROUP], xhat[MAX_GROUP], dgamma[MAX_GROUP], dbeta[MAX_GROUP];
    mpfr_t mean, var, rstd, loss, slope, h, t;
} exact;
enum { EXACT_NUMBERS = sizeof(exact) / sizeof(mpfr_t), EXACT_BITS = 400 };

static inline void exact_open(exact *e) {
    for (int i = 0; i < EXACT_NUMBERS; i++) {
        mpfr_init2(((mpfr_t *)e)[i], EXACT_BITS);
        mpfr_set_zero(((mpfr_t *)e)[i], 1);
    }
}

static inline void exact_close(exact *e) {
    for (int i = 0; i < EXACT_NUMBERS; i++) mpfr_clear(((mpfr_t *)e)[i]);
    mpfr_free_cache();
}

/* Statistics, xhat and loss of group g, from e->x. */
static inline void exact_forward(exact *e, const run *r, size_t g) {
    size_t m = group_size(&r->p);
    mpfr_set_zero(e->mean, 1), mpfr_set_zero(e->var, 1), mpfr_set_zero(e->loss, 1);
    for (size_t i = 0; i < m; i++) {
        mpfr_add(e->mean, e->mean, e->x[i], MPFR_RNDN);
        mpfr_sqr(e->t, e->x[i], MPFR_RNDN);
        mpfr_add(e->var, e->var, e->t, MPFR_RNDN);
    }
    mpfr_div_ui(e->mean, e->mean, m, MPFR_RNDN);
    mpfr_div_ui(e->var, e->var, m, MPFR_RNDN);
    if (!is_centred(&r->p)) mpfr_set_zero(e->mean, 1);
    mpfr_sqr(e->t, e->mean, MPFR_RNDN);
    mpfr_sub(e->var, e->var, e->t, MPFR_RNDN);
    if (r->p.pass == NL_INFERENCE) {
        mpfr_set_flt(e->mean, r->running_mean[g], MPFR_RNDN);
        mpfr_set_flt(e->var, r->running_var[g], MPFR_RNDN);
    }
    mpfr_add_d(e->t, e->var, (double)r->p.eps, MPFR_RNDN);
    mpfr_rec_sqrt(e->rstd, e->t, MPFR_RNDN);
    for (size_t i = 0; i < m; i++) {
        size_t at = element(&r->p, g, i);
        mpfr_sub(e->t, e->x[i], e->mean, MPFR_RNDN);
        mpfr_mul(e->xhat[i], e->t, e->rstd, MPFR_RNDN);
        mpfr_mul_d(e->t, e->xhat[i], r->dy[at] * gain(r, at), MPFR_RNDN);
        mpfr_add(e->loss, e->loss, e->t, MPFR_RNDN);
    }
}

static inline void exact_sigmoid(mpfr_t out, double z) {
    mpfr_set_d(out, -z, MPFR_RNDN);
    mpfr_exp(out, out, MPFR_RNDN);
    mpfr_add_ui(out, out, 1, MPFR_RNDN);
    mpfr_ui_div(out, 1, out, MPFR_RNDN);
}

static inline void exact_group(exact *e, const run *r, size_t g) {
    for (size_t i = 0; i < group_size(&r->p); i++) {
        size_t at = element(&r->p, g, i);
        mpfr_set_d(e->x[i], r->x[at], MPFR_RNDN);
        if (r->fused) mpfr_add_d(e->x[i], e->x[i], r->residual[at], MPFR_RNDN);
        if (r->p.op != NL_GATE_FIRST_RMSNORM) continue;
        exact_sigmoid(e->t, r->gate[at]);
        mpfr_mul_d(e->t, e->t, r->gate[at], MPFR_RNDN);
        mpfr_mul(e->x[i], e->x[i], e->t, MPFR_RNDN);
    }
    exact_forward(e, r, g);
    mpfr_set_ui_2exp(e->h, 1, -120 - mpfr_get_exp(e->rstd), MPFR_RNDN);
}

/* Sets e->slope to the derivative of group g's loss by x_i, with a relative error of about
 * 2^-240. */
static inline void exact_slope(exact *e, const run *r, size_t g, size_t i) {
    mpfr_add(e->x[i], e->x[i], e->h, MPFR_RNDN);
    exact_forward(e, r, g);
    mpfr_set(e->slope, e->loss, MPFR_RNDN);
    mpfr_sub(e->x[i], e->x[i], e->h, MPFR_RNDN);
    mpfr_sub(e->x[i], e->x[i], e->h, MPFR_RNDN);
    exact_forward(e, r, g);
    mpfr_sub(e->slope, e->slope, e->loss, MPFR_RNDN);
    mpfr_div(e->slope, e->slope, e->h, MPFR_RNDN);
    mpfr_div_2ui(e->slope, e->slope, 1, MPFR_RNDN);
    mpfr_add(e->x[i], e->x[i], e->h, MPFR_RNDN);
}

static inline long double exact_error(exact *e, long double got, mpfr_t want) {
    mpfr_set_ld(e->t, got, MPFR_RNDN);
    mpfr_sub(e->t, e->t, want, MPFR_RNDN);
    mpfr_abs(e->t, e->t, MPFR_RNDN);
    return mpfr_get_ld(e->t, MPFR_RNDN);
}
