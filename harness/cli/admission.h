/* An implementation may be timed if it is right on the short suite of the layer, pass and type.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/case_options.h"

/* Results for one implementation: a bit for each layer, pass and type. */
typedef struct admission {
    unsigned long long seen, wrong;
    char why[700]; /* the failure, as a message */
} admission;

/* admissions: [nl_impl_count()], zeroed at first. Verifies the implementations that the options
 * select for the case and that have not been verified on its layer, pass and type. False: `error`
 * has the reason. */
bool admission_check(admission *admissions, const case_options *o, const nl_case *c, char *error,
                     size_t error_size);

/* The implementation's failure on the case's layer, pass and type, or NULL. */
const char *admission_failure(const admission *admissions, const nl_impl *impl, const nl_case *c);
