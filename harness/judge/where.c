/* SPDX-License-Identifier: MIT */
#include "judge/subject.h"
#include "layer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The row, feature and place of a number; 0: the output lacks the axis. */
typedef struct spot {
    size_t row, feature, place;
} spot;

static spot spot_of(const nl_problem *p, nl_arg o, size_t i) {
    if (nl_args[o].extent == NL_TENSOR) return (spot){i / (p->c * p->s), i / p->s % p->c, i % p->s};
    const bool rows = nl_args[o].extent == NL_GROUPS && !nl_layers[p->op].by_channel;
    return rows ? (spot){.row = i} : (spot){.feature = i};
}

static size_t marked(const bool *set, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += set[i];
    return count;
}

/* Returns the sizes of the output's axes; a missing axis has size 1. */
static spot axes_of(const nl_problem *p, nl_arg o) {
    if (nl_args[o].extent == NL_TENSOR) return (spot){p->n, p->c, p->s};
    const spot last = spot_of(p, o, expected_count(p, o) - 1);
    return (spot){last.row + 1, last.feature + 1, 1};
}

/* Returns a limit of |y|. Rounding is monotone, so a float sum of squares is at least its largest
 * term, and |x - m| * rstd <= sqrt(c) for any m. x * a + b adds 3 roundings of mean * rstd; the
 * factor 2 covers all other roundings. */
static long double largest_y(const subject *s, size_t i) {
    const nl_problem *p = s->p;
    const size_t g = nl_group_of(p, i), j = nl_feature_of(p, i);
    const long double gain = ref_factor(p, s->in->gamma, s->want, i),
                      shift = s->in->beta ? s->in->beta[j] : 0,
                      folded = 3 * 0x1p-24L * fabsl(s->want->mean[g] * s->want->rstd[g]);
    return 2 * (fabsl(gain) * (sqrtl(nl_group_size(p)) + folded) + fabsl(shift)) +
           ref_smallest_normal(p->dtype);
}

bool subject_impossible(const subject *s, nl_arg o, size_t i, const expected_value *d) {
    const double got = s->got[o][i];
    if (d->promised || s->expectations->in->impl) return false;
    if (!isfinite(got)) return isfinite(ref_round(d->dtype, d->want));
    const bool bounded = o == NL_Y && s->p->pass == NL_FORWARD && !nl_layers[s->p->op].gate;
    return bounded && fabs(got) > largest_y(s, i);
}

bool region_make(const subject *s, nl_arg output, region *r) {
    const nl_problem *p = s->p;
    const spot axes = axes_of(p, output);
    *r = (region){.output = output, .count = expected_count(p, output)};
    r->rows = calloc(axes.row + axes.feature + axes.place, sizeof *r->rows);
    if (!r->rows) return false;
    r->features = r->rows + axes.row, r->places = r->features + axes.feature;
    for (size_t i = 0; i < r->count; i++) {
        const expected_value d = expected_at(s->expectations, output, i);
        const double got = s->got[output][i];
        const spot at = spot_of(p, output, i);
        if (!d.promised && !subject_impossible(s, output, i, &d)) continue;
        if (!isfinite(d.want) && !isfinite(got)) continue;
        if (d.promised && expected_met(&d, got)) continue;
        if (!r->wrong++) r->first = i;
        r->rows[at.row] = r->features[at.feature] = r->places[at.place] = true;
    }
    r->box = marked(r->rows, axes.row) * marked(r->features, axes.feature) *
             marked(r->places, axes.place);
    return true;
}

void region_free(region *r) {
    free(r->rows);
    *r = (region){0};
}

bool region_has(const subject *s, const region *r, size_t i) {
    const spot at = spot_of(s->p, r->output, i);
    return r->rows[at.row] && r->features[at.feature] && r->places[at.place];
}

/* Returns the step if the set marks every step-th element from first to last, `count` elements in
 * all; 0: irregular marks. */
static size_t step_of(const bool *set, size_t first, size_t last, size_t count) {
    const size_t step = count > 1 ? (last - first) / (count - 1) : 0;
    for (size_t i = first, k = 0; k < count; i += step, k++)
        if (!step || i > last || !set[i]) return 0;
    return step;
}

/* Would a loop over whole vectors of 4 to 64 elements end at this index? */
static bool is_tail(size_t from, size_t n) {
    for (size_t lanes = 4; lanes <= 64; lanes *= 2)
        if (from > 0 && n / lanes * lanes == from) return true;
    return false;
}

/* Returns the thread that nl_parallel_for() would give exactly these rows; 0: none. */
static int thread_of(size_t first, size_t last, size_t n, size_t threads) {
    for (size_t t = 0, begin = 0; threads > 1 && t < threads; t++) {
        const size_t end = begin + n / threads + (t < n % threads);
        if (begin == first && end == last + 1) return (int)t + 1;
        begin = end;
    }
    return 0;
}

/* Appends, for example, ", rows 3 to 5". Appends nothing if no element or every element is marked,
 * or if over a quarter are marked without a pattern. */
static void add_set(char *text, size_t size, const bool *set, size_t n, const char *noun,
                    int threads) {
    const size_t count = marked(set, n);
    const bool rows = strcmp(noun, "row") == 0 || strcmp(noun, "sample") == 0; /* no lanes */
    size_t first = 0, last = n;
    if (count == n || count == 0) return;
    while (!set[first]) first++;
    while (!set[last - 1]) last--;
    last--;
    const size_t step = step_of(set, first, last, count);
    const int thread = step == 1 ? thread_of(first, last, n, (size_t)threads) : 0;
    const bool lane = !rows && step >= 4 && step <= 64 && !(step & (step - 1));
    const bool tail = !rows && step <= 1 && last == n - 1 && is_tail(first, n);
    if (count == 1 && !tail)
        text_append(text, size, ", %s %zu only", noun, first);
    else if (tail || (step == 1 && last == n - 1 && !thread))
        text_append(text, size, ", from %s %zu on%s", noun, first, tail ? ": the tail" : "");
    else if (step == 1)
        text_append(text, size, ", %ss %zu to %zu", noun, first, last);
    else if (step > 1 && first < step && last + step >= n && (count > 2 || lane))
        text_append(text, size, ", one %s in %zu from %s %zu on%s", noun, step, noun, first,
                    lane ? ": one lane" : "");
    else if (4 * count <= n)
        text_append(text, size, ", in %zu of %zu %ss, the first is %zu", count, n, noun, first);
    if (thread) text_append(text, size, ": the share of thread %d of %d", thread, threads);
}

void region_text(const subject *s, const region *r, char *text, size_t size) {
    const spot axes = axes_of(s->p, r->output);
    const bool rows_norm = !nl_layers[s->p->op].by_channel;
    snprintf(text, size, r->wrong == r->count ? "in every element" : "in %zu of %zu elements",
             r->wrong, r->count);
    add_set(text, size, r->rows, axes.row, rows_norm ? "row" : "sample", s->threads);
    add_set(text, size, r->features, axes.feature, rows_norm ? "feature" : "channel",
            rows_norm ? 1 : s->threads);
    add_set(text, size, r->places, axes.place, "place", 1);
}

void text_append(char *text, size_t size, const char *format, ...) {
    const size_t used = strlen(text);
    va_list more;
    va_start(more, format);
    vsnprintf(text + used, size - used, format, more);
    va_end(more);
}

/* Describes output `first` and the next ones, until one is wrong in other places. */
static void add_names(const subject *s, const region of[NL_ARGS], nl_arg first, const char *where,
                      char *to, size_t size) {
    char text[256];
    size_t count = 0;
    for (nl_arg o = first; o < NL_ARGS; o++) {
        if (!of[o].wrong) continue;
        region_text(s, &of[o], text, sizeof text);
        if (strcmp(text, where) != 0) break;
        text_append(to, size, "%s%s", count++ ? ", " : "", nl_args[o].name);
    }
    text_append(to, size, " %s wrong %s", count > 1 ? "are" : "is", where);
}

void regions_text(const subject *s, const region of[NL_ARGS], char *to, size_t size) {
    char text[256], before[256] = "";
    const char *join = "; right: ";
    *to = '\0';
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        if (!of[o].wrong) continue;
        region_text(s, &of[o], text, sizeof text);
        if (strcmp(text, before) == 0) continue;
        if (*before) text_append(to, size, "; ");
        add_names(s, of, o, text, to, size);
        memcpy(before, text, sizeof text);
    }
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        if (!s->got[o] || of[o].wrong) continue;
        text_append(to, size, "%s%s", join, nl_args[o].name), join = ", ";
    }
}
