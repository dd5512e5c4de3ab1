/* An implementation may be timed if it is right on the short suite of the layer, pass and type.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/case_options.h"

/* What is known of one implementation: a bit for each layer, pass and type. */
typedef struct gate {
    unsigned long long seen, wrong;
    char why[500]; /* what it got wrong */
} gate;

/* gates: [nl_impl_count()], zeroed at first. Verifies the implementations that the options
 * select for the case and that have not been verified on its layer, pass and type. False: error
 * says why. */
bool gate_case(gate *gates, const case_options *o, const nl_case *c, char *error,
               size_t error_size);

/* What the implementation got wrong, or NULL. */
const char *gate_wrong(const gate *gates, const nl_impl *impl, const nl_case *c);
