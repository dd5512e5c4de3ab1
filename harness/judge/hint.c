/* SPDX-License-Identifier: MIT */
#include "judge/hint.h"
#include "best.h"
#include "judge/mechanism.h"
#include "judge/samples.h"
#include "judge/where.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct enquiry {
    subject s;
    instance shell; /* for the bounds; without buffers */
    dues dues;
    sample call[SAMPLES];
    region wrong[NL_ARGS];
    nl_arg shown; /* the output to speak of */
} enquiry;

static bool is_wrong(const enquiry *q) {
    return q->shown < NL_ARGS;
}

static bool same(const enquiry *q, int one, int other) {
    return sample_same(&q->call[one], &q->call[other]);
}

/* Finds the wrong numbers of a call; speaks of y or dx if any of them is wrong. */
static bool look(enquiry *q, int call) {
    q->shown = NL_ARGS;
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        region_free(&q->wrong[o]);
        q->s.got[o] = q->call[call].of[o];
        if (!q->s.got[o]) continue;
        if (!region_make(&q->s, o, &q->wrong[o])) return false;
        const bool tensor = o == subject_tensor(&q->s);
        if (q->wrong[o].wrong && (!is_wrong(q) || tensor)) q->shown = o;
    }
    return true;
}

static void append(char *text, size_t size, const char *more) {
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s", more);
}

/* "mean, rstd are wrong in every element": output o, and those behind it of which the same is true. */
static void add_names(const enquiry *q, nl_arg first, const char *where, char *to, size_t size) {
    char text[256];
    size_t count = 0;
    for (nl_arg o = first; o < NL_ARGS; o++) {
        if (!q->wrong[o].wrong) continue;
        region_text(&q->s, &q->wrong[o], text, sizeof text);
        if (strcmp(text, where) != 0) break;
        append(to, size, count++ ? ", " : "");
        append(to, size, nl_args[o].name);
    }
    append(to, size, count > 1 ? " are wrong " : " is wrong ");
    append(to, size, where);
}

static void say_where(const enquiry *q, hint *out) {
    const region *r = &q->wrong[q->shown];
    char name[64], text[256], before[256];
    const char *join = "; right: ";
    const due d = due_at(&q->dues, q->shown, r->first);
    region_index(&q->s, q->shown, r->first, name, sizeof name);
    snprintf(out->number, sizeof out->number, "%s is %.9g, should be %.9g", name,
             q->s.got[q->shown][r->first], (double)d.want);
    for (nl_arg o = 0, said = 0; o < NL_ARGS; o++) {
        if (!q->wrong[o].wrong) continue;
        region_text(&q->s, &q->wrong[o], text, sizeof text);
        if (said && strcmp(text, before) == 0) continue;
        append(out->where, sizeof out->where, said++ ? "; " : "");
        add_names(q, o, text, out->where, sizeof out->where);
        memcpy(before, text, sizeof text);
    }
    for (nl_arg o = 0; o < NL_ARGS; o++) {
        if (!q->s.got[o] || q->wrong[o].wrong) continue;
        append(out->where, sizeof out->where, join);
        append(out->where, sizeof out->where, nl_args[o].name), join = ", ";
    }
}

/* Of the wrong numbers that are NaN: those that stay zeros over zeros were never written; those that
 * are other numbers there were added to what was there. */
static bool find_nan(const enquiry *q, nl_arg o, char *cause, size_t size) {
    const region *r = &q->wrong[o];
    size_t unwritten = 0, added = 0;
    for (size_t i = 0; r->wrong && q->call[OVER_ZEROS].memory && i < r->count; i++) {
        if (!isnan(q->call[FIRST].of[o][i]) || isnan((double)due_at(&q->dues, o, i).want)) continue;
        const double v = q->call[OVER_ZEROS].of[o][i];
        unwritten += v == 0, added += v != 0 && !isnan(v);
    }
    if (added)
        snprintf(cause, size, "NaN: %s was added to what was there before the call, not set",
                 nl_args[o].name);
    else if (unwritten)
        snprintf(cause, size, "NaN: %zu element%s of %s %s never written", unwritten,
                 unwritten == 1 ? "" : "s", nl_args[o].name, unwritten == 1 ? "was" : "were");
    return added || unwritten;
}

/* Zeros where none belong, as of a sum to which nothing was added. */
static bool find_zeros(const enquiry *q, char *cause, size_t size) {
    const region *r = &q->wrong[q->shown];
    for (size_t i = 0; i < r->count; i++)
        if (region_has(&q->s, r, i) && q->call[FIRST].of[q->shown][i] != 0) return false;
    snprintf(cause, size, "these are all 0: nothing was computed");
    return true;
}

static bool find_any_nan(const enquiry *q, char *cause, size_t size) {
    bool found = find_nan(q, q->shown, cause, size);
    for (nl_arg o = 0; o < NL_ARGS && !found; o++) found = find_nan(q, o, cause, size);
    return found;
}

/* Names the mistakes that give the very numbers, if any. here: in the wrong region only. */
static bool find_mechanism(const subject *s, bool here, char *cause, size_t size, size_t *tried) {
    hypothesis *found = malloc(HYPOTHESES_MAX * sizeof *found);
    size_t count = 0, likely = 0;
    if (found && mechanism_test(s, found, &count)) likely = mechanism_likely(found, count);
    const bool known = likely && found[0].wholly;
    for (size_t i = 0; known && i < likely && i < 3; i++) {
        append(cause, size, i ? "; or " : here ? "likely, and only there: " : "likely: ");
        append(cause, size, found[i].text);
    }
    if (known && likely > 1) append(cause, size, " (this case cannot tell them apart)");
    *tried = count > *tried ? count : *tried;
    return free(found), known;
}

/* The same mistakes, but only in the rows and features that are wrong: where those are some, and
 * wrong nearly throughout. */
static bool find_there(const enquiry *q, char *cause, size_t size, size_t *tried) {
    const region *r = &q->wrong[q->shown];
    subject s = q->s;
    if (r->box < 8 || r->box == r->count || 2 * r->wrong < r->box) return false;
    s.only = r;
    return find_mechanism(&s, true, cause, size, tried);
}

static void find_cause(enquiry *q, hint *out) {
    char *cause = out->cause;
    const size_t size = sizeof out->cause;
    size_t tried = 0;
    out->known = true;
    if (!same(q, FIRST, AGAIN)) {
        snprintf(cause, size,
                 "the same call again gives other numbers: a race, or memory that was "
                 "not set");
        return;
    }
    if (!is_wrong(q)) {
        out->known = false;
        snprintf(cause, size, "unknown: right when called again");
        return;
    }
    if (!same(q, FIRST, ZERO_SCRATCH)) {
        snprintf(cause, size, "scratch was used before it was set");
        return;
    }
    if (find_any_nan(q, cause, size) || find_zeros(q, cause, size) ||
        find_mechanism(&q->s, false, cause, size, &tried) || find_there(q, cause, size, &tried))
        return;
    const size_t wrong = q->wrong[q->shown].wrong;
    if (q->call[ONE_THREAD].memory && look(q, ONE_THREAD) && !is_wrong(q)) {
        snprintf(cause, size, "right with one thread: threads share the work wrongly");
        return;
    }
    out->known = false;
    snprintf(cause, size, "unknown: none of %zu known mistakes gives %s", tried,
             wrong == 1 ? "this number" : "these numbers");
}

bool hint_make(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               int threads, hint *out) {
    *out = (hint){0};
    enquiry *q = calloc(1, sizeof *q);
    if (!q) return false;
    q->shell = (instance){.c = c, .data = data, .impl = impl};
    q->s = (subject){.p = &c->problem,
                     .in = &a->in,
                     .want = &a->want,
                     .dues = &q->dues,
                     .narrow = c->problem.dtype,
                     .threads = nl_threads_for(impl, &c->problem, threads)};
    const bool ok = dues_make(&q->shell, &a->want, &q->dues) &&
                    samples_take(&q->shell, threads, q->call) && look(q, FIRST);
    if (ok && is_wrong(q)) say_where(q, out);
    if (ok) find_cause(q, out);
    samples_free(q->call);
    for (nl_arg o = 0; o < NL_ARGS; o++) region_free(&q->wrong[o]);
    dues_free(&q->dues), free(q);
    return ok;
}
