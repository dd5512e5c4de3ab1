/* SPDX-License-Identifier: MIT */
#include "timing/fixture.h"
#include "platform/platform.h"
#include "parallel.h"
#include "verify/expected.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fixture_make(arena *shared, fixture *f, const nl_case *c, size_t scratch_bytes, size_t sets,
                  char *error, size_t error_size) {
    *f = (fixture){.c = *c};
    if (!data_make(&f->c, &f->data, error, error_size)) return false;
    snprintf(error, error_size, "no memory for %s", c->text);
    f->in = calloc(sets, sizeof *f->in);
    bool ok = f->in && answer_make(&f->c, &f->data, &f->want);
    for (; ok && f->sets < sets; f->sets += ok)
        ok = instance_make_in(shared, &f->c, &f->data, NULL, scratch_bytes, PLACE_START,
                              &f->in[f->sets]);
    if (ok) expected_make_plain(&f->c, &f->data, &f->want);
    if (!ok) fixture_free(f);
    return ok;
}

void fixture_free(fixture *f) {
    for (size_t i = 0; i < f->sets; i++) instance_free(&f->in[i]);
    free(f->in);
    answer_free(&f->want);
    answer_free(&f->partial);
    data_free(&f->data);
    *f = (fixture){0};
}

static void flush_all(const fixture *f, const instance *in) {
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (in->at[s]) flush(in->at[s], f->data.bytes[s]);
}

instance *fixture_next(fixture *f) {
    return f->last = &f->in[f->calls++ % f->sets];
}

/* A rotating set is evicted, so that it is not in the caches when its turn comes. */
void fixture_begin(fixture *f, size_t calls) {
    instance *last = &f->in[(f->calls + calls - 1) % f->sets];
    instance_refill(last);
    if (f->c.cache == CACHE_ROTATING) flush_all(f, last);
}

bool fixture_needs_care(const fixture *f) {
    bool care = f->c.cache == CACHE_COLD;
    for (nl_arg s = 0; s < NL_ARGS; s++) care = care || instance_consumes(f->in, s);
    return care;
}

typedef struct stretch {
    char *to;
    const char *from;
} stretch;

static void copy(void *context, size_t begin, size_t end) {
    const stretch *s = context;
    memcpy(s->to + begin, s->from + begin, end - begin);
}

static void touch(void *context, size_t begin, size_t end) {
    const stretch *s = context;
    for (size_t i = begin; i < end; i += 64) (void)*(volatile const char *)(s->from + i);
}

void fixture_prepare(fixture *f, int threads) {
    instance *next = &f->in[f->calls % f->sets];
    for (size_t i = 0; f->calls % f->sets == 0 && i < f->sets; i++)
        for (nl_arg s = 0; s < NL_ARGS; s++)
            if (instance_consumes(&f->in[i], s))
                nl_parallel_for(f->data.bytes[s], threads, copy,
                                &(stretch){f->in[i].at[s], f->data.input[s]});
    if (f->c.cache == CACHE_COLD) flush_all(f, next);
    if (f->c.cache != CACHE_WARM || !f->c.in_place) return;
    for (nl_arg s = 0; s < NL_ARGS; s++) /* the copies have evicted the other buffers */
        if (next->at[s])
            nl_parallel_for(f->data.bytes[s], threads, touch, &(stretch){NULL, next->at[s]});
}

verdict fixture_verify(fixture *f, const nl_impl *impl, int threads) {
    f->calls = 0; /* the next fixture_prepare() restores all sets */
    f->last = f->in;
    f->last->impl = impl;
    instance_fill(f->last);
    if (instance_call(f->last, threads) != NL_OK) return failure("%s", nl_message());
    return fixture_check(f, impl);
}

verdict fixture_check(fixture *f, const nl_impl *impl) {
    if (!arithmetic_is_usual()) return arithmetic_restore(), failure("%s", ARITHMETIC_CHANGED);
    bool partial = impl == &partial_impl;
    if (partial && !f->partial.memory && !partial_answer(&f->c, &f->data, &f->partial))
        return failure("out of %s", "memory");
    return verify_result(f->last, partial ? &f->partial : &f->want);
}

/* The part of a case's text after the layer and the pass. */
static const char *after_pass(const char *text) {
    const char *slash = strchr(text, '/');
    slash = slash ? strchr(slash + 1, '/') : NULL;
    return slash ? slash : text;
}

fixture *fixtures_get(fixtures *all, const char *text, char *error, size_t error_size) {
    if (all->count == 8 ||
        (all->count && strcmp(after_pass(all->at[0].c.text), after_pass(text)) != 0))
        fixtures_free(all);
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->at[i].c.text, text) == 0) return &all->at[i];
    fixture *f = &all->at[all->count];
    size_t scratch = 0;
    nl_case c;
    if (!case_parse(text, &c, error, error_size)) return NULL;
    for (size_t i = 0; i < nl_impl_count(); i++) {
        if (!nl_isa_runs(nl_impl_at(i)->isa) || !nl_accepts(nl_impl_at(i), &c.problem)) continue;
        size_t bytes = nl_scratch_bytes(nl_impl_at(i), &c.problem);
        if (bytes > scratch) scratch = bytes;
    }
    if (!fixture_make(NULL, f, &c, scratch, 1, error, error_size)) return NULL;
    all->count++;
    return f;
}

void fixtures_free(fixtures *all) {
    for (size_t i = 0; i < all->count; i++) fixture_free(&all->at[i]);
    all->count = 0;
}
