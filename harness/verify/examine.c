/* SPDX-License-Identifier: MIT */
#include "verify/examine.h"
#include "verify/isolate.h"

#include <string.h>

bool examine(const nl_case *c, const nl_data *data, const nl_impl *impl, examination how,
             void (*look)(void *context, const instance *in), void *context) {
    const size_t scratch = nl_scratch_bytes(impl, &c->problem);
    arena *shared = isolate_arena(instance_room(c, data, scratch));
    instance in;
    char why[320];
    if (!shared || !instance_make_in(shared, c, data, impl, scratch, PLACE_END, &in)) return false;
    for (nl_arg s = 0; s < NL_ARGS; s++) /* an output in place is an input */
        if (in.at[s] && !data->input[s]) memset(in.at[s], how.outputs, data->bytes[s]);
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (in.at[s] && data->input[s]) memcpy(in.at[s], data->input[s], data->bytes[s]);
    if (in.scratch) memset(in.scratch, how.scratch, in.scratch_bytes);
    const bool ok = isolate_call(&in, how.threads, why, sizeof why);
    if (ok) look(context, &in);
    instance_free(&in);
    return ok;
}
