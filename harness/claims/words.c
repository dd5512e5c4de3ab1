/* SPDX-License-Identifier: MIT */
#include "claims/claim.h"
#include "claims/rivals.h"
#include "base/csv.h"
#include "caches.h"
#include "timing/race.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED = 3 }; /* the most settings listed by name; further settings are counted */

/* A text buffer. A text that is too long is cut, but not inside a character. */
typedef struct words {
    char *text;
    size_t size, used;
} words;

__attribute__((format(printf, 2, 3))) static void add(words *w, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = w->used < w->size ? vsnprintf(w->text + w->used, w->size - w->used, format, list) : 0;
    va_end(list);
    if (n > 0 && w->used + (size_t)n >= w->size) text_end_whole(w->text);
    w->used += n > 0 ? (size_t)n : 0;
}

static char others[256]; /* caches of another machine; "": of this machine */

void claim_caches(const char *caches) {
    snprintf(others, sizeof others, "%s", caches);
}

static size_t cache_bytes(int level) {
    char name[8];
    snprintf(name, sizeof name, "L%d ", level);
    const char *at = strstr(others, name);
    return !*others ? nl_cache_bytes(level) : at ? strtoul(at + strlen(name), NULL, 10) << 10 : 0;
}

/* Writes the smallest cache, if known, that holds the bytes that every call uses again. */
static void add_place(words *w, size_t bytes) {
    bool known = false;
    for (int level = 1; level <= NL_CACHE_LEVELS; level++) {
        const size_t size = cache_bytes(level);
        known = known || size;
        if (size && bytes <= size) {
            add(w, " in L%d", level);
            return;
        }
    }
    if (known) add(w, " from memory");
}

static const char *how_words(const char *how) {
    static const char *const known[][2] = {{"pytorch", "PyTorch"},
                                           {"torch_compile", "torch.compile"},
                                           {"onnxruntime", "ONNX Runtime"},
                                           {"jax", "JAX"},
                                           {"instruction", "by itself"},
                                           {"newton", "with a Newton step"},
                                           {"true", "1 / sqrt"},
                                           {"layer", "a layer"},
                                           {"four", "four layers"},
                                           {"mixer", "without experts"},
                                           {"average", "averaged with its sign"},
                                           {"size", "averaged without its sign"}};
    const mode *m = mode_find(how);
    for (size_t i = 0; !m && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i][0], how) == 0) return known[i][1];
    const char *rivals = rivals_words(how);
    return m ? m->words : rivals ? rivals : strcmp(how, "-") == 0 ? "" : how;
}

void claim_where(const claim *c, const setting *s, char *text, size_t size) {
    static const char *const types[] = {"f32", "f16", "bf16"};
    words w = {text, size, 0};
    nl_case k;
    char one[CASE_TEXT], error[700];
    bool both = strncmp(s->tail, "both/", 5) == 0;
    snprintf(one, sizeof one, "layernorm/%s%s", both ? "backward" : "", s->tail + (both ? 4 : 0));
    add(&w, "%s", how_words(s->how));
    if (!*s->tail || !case_parse(one, &k, error, sizeof error)) return;
    add(&w, "%s%zu x %zu", *text ? ", " : "", k.problem.n, k.problem.c);
    if (quantity_of_layers(c->q)) add_place(&w, case_bytes(&k));
    if (both) add(&w, ", forward and backward");
    if (!both && k.problem.pass == NL_BACKWARD) add(&w, ", backward");
    if (k.problem.dtype != NL_F32) add(&w, ", %s", types[k.problem.dtype]);
    if (strncmp(k.data, "offset:", 7) == 0)
        add(&w, ", mean %s sigma off", k.data + 7);
    else if (strcmp(k.data, "normal") != 0)
        add(&w, ", %s", k.data);
    if (k.text[k.options]) add(&w, ", %s", k.text + k.options);
}

/* A number, with the words before and after it. */
typedef struct phrase {
    const char *before, *after;
    double v;
} phrase;

static phrase phrase_of(const claim *c, double v) {
    const quantity *q = c->q;
    bool step = c->share < 1;
    double times = !q->needs ? 0 : q->of == figure_speedup ? 1 / v : 1 - v / 100;
    const char *needs = !step                   ? q->needs
                        : quantity_of_layers(q) ? "a step with RMSNorm takes "
                                                : "a step takes ";
    if (times >= 2) return (phrase){needs, q->times, times};
    if (times > 1) return (phrase){needs, q->more, 100 * (times - 1)};
    return (phrase){q->before, step ? " % of the step" : q->after, v};
}

static void add_number(words *w, double v) {
    add(w, fabs(v) >= 100 && fabs(v) < 1e6 ? "%.0f" : "%.3g", v);
}

static void add_figure(words *w, const claim *c, const setting *s) {
    char where[CLAIM_WHERE];
    phrase p = phrase_of(c, s->f.value.median);
    claim_where(c, s, where, sizeof where);
    add(w, "%s", p.before);
    add_number(w, p.v);
    add(w, "%s", p.after);
    if (*where) add(w, " (%s)", where);
}

/* Writes "A to B"; words that both figures share appear once. */
static void add_range(words *w, const claim *c, const setting *least, const setting *most) {
    char from[CLAIM_WHERE], to[CLAIM_WHERE];
    phrase a = phrase_of(c, least->f.value.median), b = phrase_of(c, most->f.value.median);
    bool alike = strcmp(a.before, b.before) == 0 && strcmp(a.after, b.after) == 0;
    if (alike && a.v > b.v) {
        add_range(w, c, most, least);
        return;
    }
    claim_where(c, least, from, sizeof from);
    claim_where(c, most, to, sizeof to);
    add(w, "%s%s", alike ? "" : "at one end ", a.before);
    add_number(w, a.v);
    add(w, "%s%s%s%s%s%s",
        !alike                           ? a.after
        : strncmp(a.after, " %", 2) == 0 ? " %"
                                         : "",
        *from ? " (" : "", from, *from ? ")" : "", alike ? " to " : ", at the other ",
        alike ? "" : b.before);
    add_number(w, b.v);
    add(w, "%s%s%s%s", b.after, *to ? " (" : "", to, *to ? ")" : "");
}

static bool look_alike(const claim *c, const setting *a, const setting *b) {
    char text[2][32];
    words w[2] = {{text[0], sizeof text[0], 0}, {text[1], sizeof text[1], 0}};
    const phrase p = phrase_of(c, a->f.value.median), q = phrase_of(c, b->f.value.median);
    add_number(&w[0], p.v);
    add_number(&w[1], q.v);
    return strcmp(text[0], text[1]) == 0 && strcmp(p.before, q.before) == 0 &&
           strcmp(p.after, q.after) == 0;
}

/* Describes the settings of one outcome: lists them if it is NO_DIFFERENCE, else gives the
 * range of their figures. */
static void add_group(words *w, const claim *c, claim_outcome o) {
    const setting *least = NULL, *most = NULL;
    size_t seen = 0;
    for (size_t i = 0; i < c->settings; i++) {
        const setting *s = &c->at[i];
        if (claim_outcome_of(c, s) != o) continue;
        if (!least || s->f.value.median < least->f.value.median) least = s;
        if (!most || s->f.value.median > most->f.value.median) most = s;
        char where[CLAIM_WHERE];
        claim_where(c, s, where, sizeof where);
        if (o == NO_DIFFERENCE && seen < NAMED) add(w, "%s%s", seen ? "; " : "", where);
        seen++;
    }
    if (o == NO_DIFFERENCE && seen > NAMED)
        add(w, "; and %zu more", seen - NAMED);
    else if (o != NO_DIFFERENCE && look_alike(c, least, most))
        add_figure(w, c, least);
    else if (o != NO_DIFFERENCE)
        add_range(w, c, least, most);
}

/* The end of a verdict's range, at distance `far` from the figure. To reach the verdict, the half
 * of the interval on this side must shrink to `factor` times its length; 1: it fits already. */
typedef struct crossing {
    double end, far, half, band, factor;
} crossing;

static crossing towards(const figure *f, double end, bool up) {
    crossing x = {.end = end, .far = fabs(end - f->value.median), .factor = 1};
    x.half = fabs((up ? f->value.high : f->value.low) - f->value.median);
    x.band = up ? f->wide.high - f->value.high : f->value.low - f->wide.low;
    if (x.half + x.band > x.far) x.factor = (x.far - x.band) / x.half;
    return x;
}

/* Among the ranges around the figure, finds the one that needs the least shrinking. */
static crossing nearest(const claim *c, const figure *f) {
    const double margin = c->expected.low == c->expected.high ? c->margin : 0,
                 low = c->expected.low - margin, high = c->expected.high + margin,
                 ranges[][2] = {{low, high},
                                {-INFINITY, low},
                                {high, INFINITY},
                                {c->q->same - c->margin, c->q->same + c->margin}};
    crossing best = {.factor = -INFINITY};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (!(ranges[i][0] <= f->value.median && f->value.median <= ranges[i][1])) continue;
        crossing a = towards(f, ranges[i][0], false), b = towards(f, ranges[i][1], true);
        if (b.factor < a.factor) a = b;
        if (a.factor >= best.factor) best = a;
    }
    return best;
}

/* Estimates the measuring time that would resolve a setting. An interval shrinks with the root of
 * the measuring time; the A/A band does not shrink. */
static void add_needed(words *w, const claim *c, const setting *s) {
    if (!isfinite(s->f.wide.low) || !isfinite(s->f.wide.high)) {
        add(w, "there is no interval: measure again, with more --seconds");
        return;
    }
    const crossing x = nearest(c, &s->f);
    const bool saving = strstr(c->q->name, "saving");
    add(w, "its interval with the A/A band, %.3g to %.3g%s, contains %.3g. ", s->f.wide.low,
        s->f.wide.high, saving ? " % saved" : "", x.end);
    if (x.far <= x.half / 10)
        add(w, "The figure is too near to %.3g for a verdict", x.end);
    else if (x.factor <= 0.1)
        add(w, "A verdict needs a quieter machine: the A/A band alone is +-%.2g", s->f.band);
    else if (s->passes >= PASSES_ENOUGH)
        add(w, "A verdict needs about %.0f passes",
            ceil((double)s->passes / (x.factor * x.factor)));
    else
        add(w, "A verdict needs %.0f times the --seconds",
            fmax(2, ceil(1 / (x.factor * x.factor))));
}

static void add_count(words *w, size_t count, bool others, const char *what) {
    const char *stop = w->used ? ". " : "", *other = others ? "other " : "";
    if (count)
        add(w, "%s%zu %s%s %s", stop, count, other, count > 1 ? "settings were" : "setting was",
            what);
}

void claim_sentence(const claim *c, char *text, size_t size) {
    words w = {text, size, 0};
    claim_answer answer = claim_answer_of(c);
    size_t count[CLAIM_OUTCOMES] = {0};
    *text = '\0';
    for (size_t i = 0; i < c->settings; i++) count[claim_outcome_of(c, &c->at[i])]++;
    if ((answer == UNTRIED || answer == UNDECIDED) && *setting_why(&c->at[0])) {
        char where[CLAIM_WHERE];
        claim_where(c, &c->at[0], where, sizeof where);
        add(&w, "%s%s%s", where, *where ? ": " : "", setting_why(&c->at[0]));
        count[OPEN] -= answer == UNDECIDED;
    } else if (claim_outcome_of(c, &c->at[0]) == OPEN) {
        add_figure(&w, c, &c->at[0]);
        add(&w, "; ");
        add_needed(&w, c, &c->at[0]);
        count[OPEN]--;
    }
    claim_outcome first = claim_outcome_of(c, &c->at[0]);
    for (int i = -1; i < OPEN; i++) { /* the first setting's outcome comes first */
        claim_outcome o = i < 0 ? first : (claim_outcome)i;
        if (!count[o] || (i < 0 ? o >= OPEN : o == first)) continue;
        const bool elsewhere = w.used > 0;
        add(&w, "%s", elsewhere ? ". " : "");
        if (answer != HOLDS || o != AS_CLAIMED) {
            const char *the = elsewhere ? "In other settings the" : "The";
            if (o == NO_DIFFERENCE)
                add(&w, "%sre is no difference: ", the);
            else if (o == MORE || o == LESS)
                add(&w, "%s effect is %s than claimed: ", the, o == MORE ? "larger" : "smaller");
            else
                add(&w, "%s result is %s: ", the, claim_outcome_name(o));
        }
        add_group(&w, c, o);
    }
    const bool others = w.used > 0;
    add_count(&w, count[OPEN], others, "not resolved");
    add_count(&w, count[NOT_RUN] - (answer == UNTRIED), others, "not run");
    add(&w, ".");
    if ('a' <= *text && *text <= 'z') *text = (char)(*text - 'a' + 'A');
}
