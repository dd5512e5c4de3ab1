/* SPDX-License-Identifier: MIT */
#include "timing/fixture.h"
#include "timing/partial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fixture_make(fixture *f, const nl_case *c, size_t scratch_bytes, size_t sets, char *error,
                  size_t error_size) {
    *f = (fixture){.c = *c};
    if (!data_make(&f->c, &f->data, error, error_size)) return false;
    snprintf(error, error_size, "no memory for %s", c->text);
    f->in = calloc(sets, sizeof *f->in);
    bool ok = f->in && answer_make(&f->c, &f->data, &f->want);
    for (; ok && f->sets < sets; f->sets += ok)
        ok = instance_make(&f->c, &f->data, NULL, scratch_bytes, PLACE_START, &f->in[f->sets]);
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

instance *fixture_set(const fixture *f, size_t turn) {
    return &f->in[turn % f->sets];
}

verdict fixture_verify(fixture *f, const nl_impl *impl, int threads) {
    instance *in = f->in;
    bool partial = impl == &partial_impl;
    if (partial && !f->partial.memory && !partial_answer(&f->c, &f->data, &f->partial))
        return failure("out of %s", "memory");
    in->impl = impl;
    instance_fill(in);
    if (instance_call(in, threads) != NL_OK) return failure("%s", nl_message());
    return outputs_check(in, partial ? &f->partial : &f->want);
}

/* The spelling after the layer and the pass. */
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
        if (!nl_accepts(nl_impl_at(i), &c.problem)) continue;
        size_t bytes = nl_scratch_bytes(nl_impl_at(i), &c.problem);
        if (bytes > scratch) scratch = bytes;
    }
    if (!fixture_make(f, &c, scratch, 1, error, error_size)) return NULL;
    all->count++;
    return f;
}

void fixtures_free(fixtures *all) {
    for (size_t i = 0; i < all->count; i++) fixture_free(&all->at[i]);
    all->count = 0;
}
