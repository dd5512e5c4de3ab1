/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"
#include "verify/isolate.h"

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
