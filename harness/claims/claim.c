/* A file of lines `key: value`; a line that begins with '#' is a comment.
 * SPDX-License-Identifier: MIT */
#include "claims/claim.h"
#include "base/csv.h"
#include "timing/race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "7 .. 15", "> 2", "< 0" or "= 4". */
static bool read_predicate(const char *text, predicate *out) {
    char *end;
    const char *from = text + (*text && strchr("<>=", *text) ? 1 : 0);
    double v = strtod(from, &end);
    if (end == from || !isfinite(v)) return false;
    *out = (predicate){*text == '<' ? -INFINITY : v, *text == '>' ? INFINITY : v};
    if (from != text) return *end == '\0';
    end += strspn(end, " ");
    if (strncmp(end, "..", 2) != 0) return false;
    out->high = strtod(end + 2, &end);
    return *end == '\0' && out->low < out->high && isfinite(out->high);
}

static bool read_number(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && *out >= 0 && isfinite(*out);
}

/* "HOW[,HOW]... [CASE]...": combines every HOW with every CASE. Without a CASE, every HOW is a
 * setting. Returns NULL, or a description of valid values. */
static const char *read_settings(const char *text, claim *c) {
    const size_t end = strcspn(text, " ");
    for (size_t at = 0, n; at <= end; at += n + 1) {
        const char *tail = text + end + strspn(text + end, " ");
        n = strcspn(text + at, ", ");
        do {
            const size_t length = strcspn(tail, " ");
            if (c->settings == SETTINGS_MAX) return "at most 24 settings in all lines together";
            setting *s = &c->at[c->settings++];
            if (!n || n >= sizeof s->how || length >= sizeof s->tail)
                return "'HOW' or 'HOW pass/dtype/NxC/data'";
            memcpy(s->how, text + at, n), memcpy(s->tail, tail, length);
            s->verdict = UNRESOLVED;
            tail += length, tail += strspn(tail, " ");
        } while (*tail);
    }
    return NULL;
}

/* Has an earlier line given this key? `paper` replaces predicate and share. */
static bool is_given(const claim *c, const char *key) {
    const bool paper = strcmp(key, "paper") == 0;
    return (strcmp(key, "claim") == 0 && *c->text) || (strcmp(key, "source") == 0 && *c->source) ||
           (strcmp(key, "why") == 0 && *c->why) || (strcmp(key, "quantity") == 0 && c->q) ||
           (strcmp(key, "margin") == 0 && !isnan(c->margin)) ||
           ((paper || strcmp(key, "predicate") == 0) && !isnan(c->expected.low)) ||
           ((paper || strcmp(key, "share") == 0) && c->share < 1);
}

/* Stores a value; returns NULL, or a description of valid values. */
_Static_assert(CLAIM_TEXT == 400 && SETTINGS_MAX == 24, "in the messages");
static const char *set_key(claim *c, const char *key, const char *value) {
    char *const texts[] = {c->text, c->source, c->why};
    static const char *const names[] = {"claim", "source", "why"};
    if (is_given(c, key)) return "given once; `paper` excludes predicate and share";
    for (size_t i = 0; i < 3; i++)
        if (strcmp(key, names[i]) == 0) {
            if (!*value || strlen(value) >= CLAIM_TEXT) return "1 to 399 characters long";
            strcpy(texts[i], value);
            return NULL;
        }
    if (strcmp(key, "quantity") == 0)
        return (c->q = quantity_find(value)) ? NULL
                                             : "a quantity that `normlab claims --help` lists";
    if (strcmp(key, "predicate") == 0)
        return read_predicate(value, &c->expected) ? NULL : "'LOW .. HIGH', '> X', '< X' or '= X'";
    if (strcmp(key, "margin") == 0)
        return read_number(value, &c->margin) ? NULL : "a number, at least 0";
    if (strcmp(key, "share") == 0) {
        bool ok = read_number(value, &c->share) && c->share > 0 && c->share <= 100;
        c->share /= 100;
        return ok ? NULL : "a share in per cent";
    }
    if (strcmp(key, "paper") == 0) {
        if (!(c->paper = paper_find(value))) return "a row of harness/timing/paper.c";
        paper_time t = paper_saving(c->paper, c->paper->rmsnorm);
        c->share = paper_share(c->paper);
        c->expected = (predicate){100 * (t.seconds - t.error), 100 * (t.seconds + t.error)};
        return NULL;
    }
    if (strcmp(key, "where") != 0)
        return "claim, source, quantity, predicate, margin, share, paper, where or why";
    return read_settings(value, c);
}

const char *claim_verdict_name(claim_verdict v) {
    static const char *const names[CLAIM_VERDICTS] = {"SUPPORTED", "REFUTED", "SAME",
                                                      "NOT RESOLVED"};
    return names[v];
}

claim_verdict claim_decide(estimate wide, predicate expected, double same, double margin) {
    double low = wide.low, high = wide.high;
    if (isnan(wide.median) || !(low <= high)) return UNRESOLVED;
    if (low >= same - margin && high <= same + margin) return EQUAL; /* false if `same` is NaN */
    if (expected.low == expected.high) expected.low -= margin, expected.high += margin;
    if (isinf(expected.high)) expected.low = nextafter(expected.low, INFINITY); /* X is not > X */
    if (isinf(expected.low)) expected.high = nextafter(expected.high, -INFINITY);
    if (low >= expected.low && high <= expected.high) return SUPPORTED;
    if (high < expected.low || low > expected.high) return REFUTED;
    return UNRESOLVED;
}

bool claim_is_elsewhere(const setting *s) {
    static const char *const frameworks[] = {"pytorch", "torch_compile", "onnxruntime", "jax"};
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++)
        if (strcmp(s->how, frameworks[i]) == 0) return true;
    return false;
}

const char *setting_why(const setting *s) {
    if (!s->measured) return *s->why ? s->why : "not measured";
    return isnan(s->f.value.median) ? "its result is not a number" : "";
}

bool claim_lacks(const char *why) {
    return strncmp(why, "not measured", 12) == 0;
}

bool setting_same_race(const setting *a, const setting *b) {
    return strcmp(a->how, b->how) == 0 && strcmp(a->tail, b->tail) == 0;
}

/* Returns NULL, or a message about a missing key or a wrong setting. */
static const char *incomplete(const claim *c) {
    if (!*c->text) return "there is no line `claim:`";
    if (!*c->source) return "there is no line `source:`";
    if (!c->q) return "there is no line `quantity:`";
    if (isnan(c->expected.low)) return "there is no line `predicate:` or `paper:`";
    if (isnan(c->margin)) return "there is no line `margin:`";
    if ((c->paper || c->share < 1) && c->q->of != figure_saving)
        return "`share:` and `paper:` are about a step: they need `quantity: saving`";
    if (!c->settings) return "there is no line `where:`";
    for (size_t i = 0; i < c->settings; i++)
        if (quantity_of_layers(c->q) &&
            ((!mode_find(c->at[i].how) && !claim_is_elsewhere(&c->at[i])) || !*c->at[i].tail))
            return "a `where:` needs a mode that `normlab claims --help` lists, and a case";
    return NULL;
}

static void name_of(const char *path, char *name, size_t size) {
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
    const char *dot = strrchr(start, '.');
    int length = (int)(dot ? dot - start : (long)strlen(start));
    if (snprintf(name, size, "%.*s", length, start) >= (int)size) text_end_whole(name);
}

bool claim_read(const char *path, claim *out, char *error, size_t error_size) {
    scan s = {.path = path, .error = error, .error_size = error_size};
    char *text;
    *out = (claim){.share = 1, .margin = NAN, .expected = {NAN, NAN}};
    name_of(path, out->name, sizeof out->name);
    bool ok = scan_file(&s, &text);
    for (char *line; ok && (line = scan_line(&s));) {
        char *colon = strchr(line, ':');
        if (*line == '#' || !line[strspn(line, " \t")]) continue;
        ok = colon || scan_error(&s, s.first_line, "should be `key: value`");
        if (!ok) break;
        *colon = '\0';
        const char *value = colon + 1 + strspn(colon + 1, " \t"),
                   *should = set_key(out, line, value);
        ok = !should ||
             scan_error(&s, s.first_line, "'%.60s: %.100s' should be %s", line, value, should);
    }
    free(text);
    const char *missing = ok ? incomplete(out) : NULL;
    return ok && (!missing || scan_error(&s, 0, "%s", missing));
}

const char *claim_outcome_name(claim_outcome o) {
    static const char *const names[CLAIM_OUTCOMES] = {"as claimed",    "more",
                                                      "less",          "the other way round",
                                                      "no difference", "not resolved",
                                                      "not run"};
    return names[o];
}

const char *claim_answer_name(claim_answer a) {
    static const char *const names[CLAIM_ANSWERS] = {"HOLDS",        "FAILS",   "DEPENDS",
                                                     "NOT RESOLVED", "NOT RUN", "FIRST LOOK"};
    return names[a];
}

/* -1: below the claimed range; 0: in it; 1: above. */
static int side_of(const claim *c, const setting *s) {
    const predicate *p = &c->expected;
    double same = c->q->same;
    bool one = p->low == p->high;
    if (s->verdict == SUPPORTED) return 0;
    if (s->verdict == REFUTED) return s->f.wide.low >= p->high ? 1 : -1;
    if (one ? s->f.wide.low >= p->low - c->margin && s->f.wide.high <= p->high + c->margin
            : p->low < same && same < p->high)
        return 0;
    return same <= p->low ? -1 : 1;
}

claim_outcome claim_outcome_of(const claim *c, const setting *s) {
    const predicate *p = &c->expected;
    double same = c->q->same;
    if (!s->measured) return NOT_RUN;
    if (s->verdict == UNRESOLVED) return OPEN;
    int side = side_of(c, s);
    if (side == 0) return AS_CLAIMED;
    if (s->verdict == EQUAL) return NO_DIFFERENCE;
    const bool above = p->low >= same && p->high > same, below = p->high <= same && p->low < same;
    if (isnan(same)) return side > 0 ? MORE : LESS;
    if (!above && !below) return MORE; /* the claimed range contains `same` */
    if (above == (side > 0)) return MORE;
    return (above ? s->f.wide.high <= same : s->f.wide.low >= same) ? OTHER_WAY : LESS;
}

static bool first_look(const setting *s) {
    return s->measured && s->passes && s->passes < PASSES_ENOUGH;
}

claim_answer claim_answer_of(const claim *c) {
    unsigned sides = 0;
    bool open = false;
    if (first_look(&c->at[0])) return FIRST_LOOK;
    for (size_t i = 0; i < c->settings; i++)
        if (claim_outcome_of(c, &c->at[i]) == OPEN)
            open = open || !claim_is_elsewhere(&c->at[i]);
        else if (!first_look(&c->at[i]) && claim_outcome_of(c, &c->at[i]) < OPEN)
            sides |= 1u << (side_of(c, &c->at[i]) + 1);
    claim_outcome first = claim_outcome_of(c, &c->at[0]);
    if (sides & (sides - 1)) return DEPENDS;
    if (first == NOT_RUN) return UNTRIED;
    if (first == OPEN || open) return UNDECIDED; /* more passes may lead to DEPENDS */
    return first == AS_CLAIMED ? HOLDS : FAILS;
}
