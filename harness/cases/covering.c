/* Makes a covering array's rows greedily. A row begins with the first triple of classes that no
 * earlier row has. Each other dimension, in random order, gets the class that covers most new
 * triples. SPDX-License-Identifier: MIT */
#include "cases/suite.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = COVERING_CLASSES, TRIALS = 4 }; /* 64 TRIALS per row would save 2 % of the rows */

typedef struct maker {
    const covering_table *t;
    uint64_t stream, next;
    /* Is this triple of classes uncovered? Each triple is stored in every order. */
    bool (*left)[COVERING_CLASSES][COVERING_CLASSES];
    bool (*take)(void *context, const size_t *row); /* gets the rows */
    void *context;
} maker;

static size_t draw(maker *m, size_t count) {
    return (size_t)(random_uniform(m->stream, m->next++) * (double)count);
}

static bool fits(const covering_table *t, const size_t *row, size_t class) {
    size_t product = t->factor[class];
    for (size_t d = 0; d < t->dimensions; d++) {
        if (row[d] == NONE) continue;
        if (t->apart[class][row[d]]) return false;
        product *= t->factor[row[d]];
    }
    return product <= t->most;
}

/* Number of uncovered triples that this class adds to the row. */
static size_t gain(const maker *m, const size_t *row, size_t class) {
    size_t count = 0;
    for (size_t d = 0; d < m->t->dimensions; d++)
        for (size_t e = d + 1; row[d] != NONE && e < m->t->dimensions; e++)
            count += row[e] != NONE && m->left[class][row[d]][row[e]];
    return count;
}

static void set_left(maker *m, size_t a, size_t b, size_t c, bool left) {
    m->left[a][b][c] = m->left[a][c][b] = m->left[b][a][c] = left;
    m->left[b][c][a] = m->left[c][a][b] = m->left[c][b][a] = left;
}

/* Returns the dimension's best class and its gain. NONE: no class fits. */
static size_t choose(maker *m, const size_t *row, size_t d, size_t *most) {
    const size_t first = m->t->first[d], count = m->t->first[d + 1] - first, from = draw(m, count);
    size_t best = NONE;
    for (size_t k = 0; k < count; k++) {
        const size_t class = first + (from + k) % count;
        if (!fits(m->t, row, class)) continue;
        const size_t g = gain(m, row, class);
        if (best == NONE || g > *most) best = class, *most = g;
    }
    return best;
}

/* Chooses a class for each dimension that has NONE. False: not possible. */
static bool fill(maker *m, size_t *row, size_t *gained) {
    size_t open[COVERING_DIMENSIONS], count = 0, most = 0;
    for (size_t d = 0; d < m->t->dimensions; d++)
        if (row[d] == NONE) open[count++] = d;
    for (*gained = 0; count; *gained += most) {
        const size_t i = draw(m, count), d = open[i];
        open[i] = open[--count];
        if ((row[d] = choose(m, row, d, &most)) == NONE) return false;
    }
    return true;
}

/* Like fill(), but for the dimensions from d on, and by backtracking. */
static bool search(const covering_table *t, size_t *row, size_t d) {
    while (d < t->dimensions && row[d] != NONE) d++;
    if (d == t->dimensions) return true;
    for (size_t class = t->first[d]; class < t->first[d + 1]; class ++) {
        if (!fits(t, row, class)) continue;
        row[d] = class;
        if (search(t, row, d + 1)) return true;
        row[d] = NONE;
    }
    return false;
}

/* Does each open dimension have a class that fits? If not, search() would take long, in vain. */
static bool may_exist(const covering_table *t, const size_t *row) {
    for (size_t d = 0; d < t->dimensions; d++) {
        size_t class = row[d] == NONE ? t->first[d] : t->first[d + 1] - 1;
        while (row[d] == NONE && class < t->first[d + 1] && !fits(t, row, class)) class ++;
        if (class == t->first[d + 1]) return false;
    }
    return true;
}

/* Makes the best of TRIALS rows with these classes in these dimensions. False: there is none. */
static bool make_row(maker *m, const size_t of[3], const size_t class[3], size_t *row) {
    size_t trial[COVERING_DIMENSIONS], gained, most = 0;
    bool found = false;
    for (int i = 0; i < TRIALS; i++) {
        for (size_t d = 0; d < m->t->dimensions; d++) trial[d] = NONE;
        for (int k = 0; k < 3; k++) trial[of[k]] = class[k];
        if (!fill(m, trial, &gained) || (found && gained <= most)) continue;
        memcpy(row, trial, sizeof trial);
        most = gained, found = true;
    }
    if (found) return true;
    for (size_t d = 0; d < m->t->dimensions; d++) row[d] = NONE;
    for (int k = 0; k < 3; k++) row[of[k]] = class[k];
    return may_exist(m->t, row) && search(m->t, row, 0);
}

static void have_met(maker *m, const size_t *row) {
    for (size_t d = 0; d < m->t->dimensions; d++)
        for (size_t e = d + 1; e < m->t->dimensions; e++)
            for (size_t f = e + 1; f < m->t->dimensions; f++)
                set_left(m, row[d], row[e], row[f], false);
}

/* Calls visit for every triple of classes of three dimensions. */
static bool each_three(maker *m,
                       bool (*visit)(maker *m, const size_t of[3], const size_t class[3])) {
    const covering_table *t = m->t;
    const size_t all = t->first[t->dimensions];
    size_t of[3] = {0}, c[3];
    for (c[0] = 0, of[0] = 0; c[0] < all; c[0]++) {
        while (c[0] >= t->first[of[0] + 1]) of[0]++;
        for (c[1] = t->first[of[0] + 1], of[1] = of[0] + 1; c[1] < all; c[1]++) {
            while (c[1] >= t->first[of[1] + 1]) of[1]++;
            for (c[2] = t->first[of[1] + 1], of[2] = of[1] + 1; c[2] < all; c[2]++) {
                while (c[2] >= t->first[of[2] + 1]) of[2]++;
                if (!visit(m, of, c)) return false;
            }
        }
    }
    return true;
}

static bool note_left(maker *m, const size_t of[3], const size_t c[3]) {
    size_t row[COVERING_DIMENSIONS];
    if (m->t->with & ~(1u << of[0] | 1u << of[1] | 1u << of[2])) return true;
    for (size_t d = 0; d < m->t->dimensions; d++) row[d] = NONE;
    for (int k = 0; k < 3; k++) {
        if (!fits(m->t, row, c[k])) return true;
        row[of[k]] = c[k];
    }
    set_left(m, c[0], c[1], c[2], true);
    return true;
}

static bool cover(maker *m, const size_t of[3], const size_t c[3]) {
    size_t row[COVERING_DIMENSIONS];
    if (!m->left[c[0]][c[1]][c[2]] || !make_row(m, of, c, row)) return true;
    have_met(m, row);
    return m->take(m->context, row);
}

bool covering_make(const covering_table *t, uint64_t stream,
                   bool (*take)(void *context, const size_t *row), void *context) {
    maker m = {.t = t, .stream = stream, .take = take, .context = context};
    m.left = calloc(COVERING_CLASSES, sizeof *m.left);
    const bool ok = m.left && each_three(&m, note_left) && each_three(&m, cover);
    free(m.left);
    return ok;
}
