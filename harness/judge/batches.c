/* SPDX-License-Identifier: MIT */
#include "judge/batches.h"
#include "dtype.h"
#include "judge/judgement.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Its place among all numbers of the type, in their order. */
static int64_t order_of(nl_dtype t, double v) {
    unsigned char stored[4] = {0};
    uint32_t wide;
    uint16_t half;
    nl_store(t, stored, 0, (float)v);
    memcpy(&wide, stored, sizeof wide), memcpy(&half, stored, sizeof half);
    const int64_t bits = t == NL_F32 ? wide : half, sign = t == NL_F32 ? 1LL << 31 : 1 << 15;
    return bits & sign ? sign - 1 - bits : bits; /* -0 lies below 0 */
}

static double distance(nl_dtype t, double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : INFINITY;
    return fabs((double)(order_of(t, a) - order_of(t, b)));
}

batches batches_compare(const judgement *j, const npy *part, size_t first) {
    const nl_problem *p = j->s.p;
    const nl_arg o = subject_tensor(&j->s);
    batches b = {.first = first, .rows = part->count / p->c};
    for (size_t r = 0; r < b.rows; r++) {
        const size_t before = b.numbers;
        for (size_t k = r * p->c, i = first * p->c + k; k < (r + 1) * p->c; k++, i++) {
            const double v = npy_value(part, k), off = distance(p->dtype, j->s.got[o][i], v);
            const expected_value d = expected_at(&j->expectations, o, i);
            b.beyond += d.promised && !expected_met(&d, v);
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
    char most[32] = "one of both NaN";
    if (isfinite(b->ulps)) snprintf(most, sizeof most, "at most %.0f ulp", b->ulps);
    fprintf(out, "  its bits       differ in %zu of %zu rows, %zu of %zu numbers, %s: %s\n",
            b->others, b->rows, b->numbers, b->rows * j->s.p->c, most,
            judgement_number(j, o, b->worst, text));
    if (b->beyond)
        fprintf(out, "  its error      is beyond the bound in %zu of them\n", b->beyond);
    else
        fprintf(out, "  its error      is within the bound\n");
}
