/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"
#include "registry.h"
#include "verify/isolate.h"
#include "verify/worker.h"

#include <stdio.h>
#include <string.h>

/* A cached verdict with its key: many rungs compute the same bits, at both placements. */
typedef struct known {
    unsigned long answer;
    uint64_t hash; /* hash of all arguments after the call */
    nl_impl impl;  /* same() compares the fields that decide the bound */
    verdict v;
} known;

static bool same(const known *a, unsigned long answer, uint64_t hash, const nl_impl *impl) {
    return a->answer == answer && a->hash == hash && a->impl.method == impl->method &&
           a->impl.lanes == impl->lanes && a->impl.range_safe == impl->range_safe &&
           a->impl.demonstration == impl->demonstration;
}

verdict verify_result(const instance *in, const answer *a) {
    enum { KNOWN = 32 };
    static known last[KNOWN];
    static size_t next;
    if (!in->impl || !a->number) return outputs_check(in, a);
    const uint64_t hash = instance_hash(in);
    for (known *k = last; k < last + KNOWN; k++)
        if (same(k, a->number, hash, in->impl)) return k->v;
    known *k = &last[next++ % KNOWN];
    *k = (known){a->number, hash, *in->impl, outputs_check(in, a)};
    return k->v;
}

bool verify_batches;

/* Adds batch_compare()'s result to a verdict that is ok or demo. */
static verdict with_batch(verdict v, const nl_impl *impl) {
    const char *how = isolate_batch();
    if (!how || (v.outcome != OUTCOME_OK && v.outcome != OUTCOME_DEMO)) return v;
    if (*how && (verify_batches || nl_is_own(impl))) return failure("%s", how);
    v.batches = true, v.depends = *how;
    if (*how) snprintf(v.why, sizeof v.why, "%s", how);
    return v;
}

verdict verify(const nl_case *c, const nl_data *data, const answer *a, const nl_impl *impl,
               placement where, int threads) {
    const size_t scratch = nl_scratch_bytes(impl, &c->problem);
    if (scratch > MEMORY_MOST) return failure("%s", "its .scratch is more than 1 GiB");
    arena *shared = isolate_arena(instance_room(c, data, scratch));
    instance in;
    if (!shared || !instance_make_in(shared, c, data, impl, scratch, where, &in))
        return failure("out of %s", "memory");
    /* not NaN, because a kernel that adds to the old contents may replace NaN by 0 */
    if (where == PLACE_START) in.unset = UNSET_NUMBERS, instance_fill(&in);
    char why[sizeof((verdict){0}.why)];
    const verdict v = isolate_call(&in, threads, why, sizeof why)
                          ? with_batch(verify_result(&in, a), impl)
                          : failure("%s", why);
    instance_free(&in);
    return v;
}

bool examine(const nl_case *c, const nl_data *data, const nl_impl *impl, examination how,
             void (*look)(void *context, const instance *in), void *context) {
    const size_t scratch = nl_scratch_bytes(impl, &c->problem);
    arena *shared = isolate_arena(instance_room(c, data, scratch));
    instance in;
    char why[320];
    if (!shared || !instance_make_in(shared, c, data, impl, scratch, PLACE_END, &in)) return false;
    in.unset = how.outputs, in.scratch_byte = how.scratch;
    instance_fill(&in);
    const bool ok = isolate_call(&in, how.threads, why, sizeof why);
    if (ok) look(context, &in);
    instance_free(&in);
    return ok;
}
