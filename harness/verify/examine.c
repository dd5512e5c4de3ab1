/* SPDX-License-Identifier: MIT */
#include "verify/examine.h"

#include <string.h>

bool examine(const nl_case *c, const nl_data *data, const nl_impl *impl, examination how,
             void (*look)(void *context, const instance *in), void *context) {
    instance in;
    if (!instance_make(c, data, impl, nl_scratch_bytes(impl, &c->problem), PLACE_END, &in))
        return false;
    for (nl_arg s = 0; s < NL_ARGS; s++) /* an output in place is an input */
        if (in.at[s] && !data->input[s]) memset(in.at[s], how.outputs, data->bytes[s]);
    for (nl_arg s = 0; s < NL_ARGS; s++)
        if (in.at[s] && data->input[s]) memcpy(in.at[s], data->input[s], data->bytes[s]);
    if (in.scratch) memset(in.scratch, how.scratch, in.scratch_bytes);
    const bool ok = instance_call(&in, how.threads) == NL_OK;
    if (ok) look(context, &in);
    instance_free(&in);
    return ok;
}
