/* Times one implementation as `normlab bench` does. SPDX-License-Identifier: MIT */
#pragma once

#include "registry.h"
#include "timing/bench.h"
#include "support.h"

typedef struct benched {
    const char *name;
    row line;
} benched;

static inline bool is_benched(void *context, const nl_impl *impl, const nl_case *c) {
    const benched *b = context;
    return strcmp(impl->name, b->name) == 0 && nl_accepts(impl, &c->problem);
}

static inline void keep_row(void *context, const row *line) {
    ((benched *)context)->line = *line;
}

/* The last verdict on the implementation of this name, which must be in the table. */
static inline verdict bench_verdict(const nl_case *c, const char *name) {
    benched b = {.name = name};
    char error[700] = "no row";
    const bench_settings o = {.threads = 1,
                              .seconds = 1e-3,
                              .precision = 1,
                              .context = &b,
                              .selects = is_benched,
                              .row = keep_row};
    if (!bench_case(c, &o, error, sizeof error) || !b.line.c)
        cr_assert_fail("%s: not timed: %s", c->text, error);
    return b.line.v;
}
