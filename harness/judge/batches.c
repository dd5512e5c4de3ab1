/* Compares rows of y or dx with the same rows from another batch. SPDX-License-Identifier: MIT */
#include "judge/judge.h"
#include "dtype.h"
#include "layer.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

bool batches_fit(const npy *x, size_t axes, const npy *part, size_t first, char *error,
                 size_t size) {
    char shape[NPY_SHAPE_TEXT], of_x[NPY_SHAPE_TEXT];
    size_t row = 1;
    bool ends = part->count && part->rank >= axes;
    for (size_t i = 1; i <= axes; i++) {
        row *= x->shape[x->rank - i];
        ends = ends && part->shape[part->rank - i] == x->shape[x->rank - i];
    }
    npy_shape_text(part, shape), npy_shape_text(x, of_x);
    if (!ends)
        return snprintf(error, size, "has shape %s: not rows of x, which has %s", shape, of_x),
               false;
    const size_t rows = part->count / row, all = x->count / row,
                 left = first < all ? all - first : 0;
    if (rows > left)
        snprintf(error, size, "has %zu rows, but from row %zu on x has %zu", rows, first, left);
    return rows <= left;
}

/* The type whose ulps are counted: double (wide), or t. */
typedef struct scale {
    bool wide;
    nl_dtype t;
} scale;

/* Returns v's rank among all numbers of the type, in ascending order; -0 lies below 0. */
static int64_t order_of(scale of, double v) {
    unsigned char stored[8] = {0};
    uint64_t bits = 0;
    const size_t bytes = of.wide ? sizeof v : nl_dtype_size(of.t);
    if (of.wide)
        memcpy(stored, &v, sizeof v);
    else
        nl_store(of.t, stored, 0, (float)v);
    for (size_t i = bytes; i > 0; i--) bits = bits << 8 | stored[i - 1];
    const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    return bits & sign ? -1 - (int64_t)(bits & ~sign) : (int64_t)bits;
}

static double distance(scale of, double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : INFINITY;
    const int64_t m = order_of(of, a), n = order_of(of, b);
    return (double)(m > n ? (uint64_t)m - (uint64_t)n : (uint64_t)n - (uint64_t)m);
}

static bool holds(nl_dtype t, double v) {
    return isnan(v) || (double)nl_round(t, (float)v) == v;
}

/* Returns the judged type if it can store every compared number; else the type of the files. */
static scale scale_of(const judgement *j, const npy *part, size_t first) {
    const nl_problem *p = j->s.p;
    const double *got = j->s.got[subject_tensor(&j->s)] + first * p->c;
    for (size_t i = 0; i < part->count; i++)
        if (!holds(p->dtype, got[i]) || !holds(p->dtype, npy_value(part, i)))
            return (scale){part->type == 'd', npy_type_of(part->type)->dtype};
    return (scale){false, p->dtype};
}

batches batches_compare(const judgement *j, const npy *part, size_t first) {
    const nl_problem *p = j->s.p;
    const nl_arg o = subject_tensor(&j->s);
    const scale of = scale_of(j, part, first);
    batches b = {.first = first, .rows = part->count / p->c};
    b.ulps_of = of.wide ? " of f64" : of.t != p->dtype ? " of f32" : "";
    for (size_t r = 0; r < b.rows; r++) {
        const size_t before = b.numbers;
        for (size_t k = r * p->c, i = first * p->c + k; k < (r + 1) * p->c; k++, i++) {
            const double v = npy_value(part, k), off = distance(of, j->s.got[o][i], v);
            const expected_value d = expected_at(&j->expectations, o, i);
            b.beyond += d.promised && !expected_met(&d, v), b.unjudged += !d.promised;
            b.numbers += off > 0;
            if (off > b.ulps) b.ulps = off, b.worst = i;
        }
        b.others += b.numbers > before;
    }
    return b;
}

void batches_print(const judgement *j, const batches *b, const char *path, FILE *out) {
    const nl_arg o = subject_tensor(&j->s);
    char text[256];
    fprintf(out, "\nanother batch    rows %zu to %zu of %zu: %s\n", b->first,
            b->first + b->rows - 1, j->s.p->n, path);
    if (!b->numbers) {
        fprintf(out, "  its bits       are the same\n");
        return;
    }
    char most[48] = "NaN in one batch only";
    if (isfinite(b->ulps)) snprintf(most, sizeof most, "at most %.0f ulp%s", b->ulps, b->ulps_of);
    fprintf(out, "  its bits       differ in %zu of %zu rows, %zu of %zu numbers, %s: %s\n",
            b->others, b->rows, b->numbers, b->rows * j->s.p->c, most,
            judgement_number(j, o, b->worst, text));
    if (b->beyond)
        fprintf(out, "  its error      is beyond the bound in %zu numbers\n", b->beyond);
    else if (b->unjudged)
        fprintf(
            out,
            "  its error      has no bound in %zu of %zu numbers; the others are within theirs\n",
            b->unjudged, b->rows * j->s.p->c);
    else
        fprintf(out, "  its error      is within the bound\n");
}
