/* The record of the largest errors, in words. SPDX-License-Identifier: MIT */
#ifndef NL_RECORD_H
#define NL_RECORD_H

#include "verify/error_file.h"

/* What was noted against the record. False: something is wrong with it. */
bool record_compare(const error_record *e);

/* False: it cannot be written. */
bool record_update(const error_record *e);

#endif
