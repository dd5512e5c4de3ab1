/* An implementation may be timed if it is right on the short suite of the layer, pass and type.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/case_options.h"

/* Results for one implementation: a bit for each layer, pass and type. */
typedef struct gate {
    unsigned long long seen, wrong;
    char why[700]; /* the failure, as a message */
} gate;

/* gates: [nl_impl_count()], zeroed at first. Verifies the implementations that the options select
 * for the case and that have not been verified on its layer, pass and type. False: `error` has the
 * reason. */
bool gate_case(gate *gates, const case_options *o, const nl_case *c, char *error,
               size_t error_size);

/* The implementation's failure on the case's layer, pass and type, or NULL. */
const char *gate_wrong(const gate *gates, const nl_impl *impl, const nl_case *c);
