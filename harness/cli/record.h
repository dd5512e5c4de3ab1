/* Prints the comparison with the record of the largest errors. SPDX-License-Identifier: MIT */
#ifndef NL_RECORD_H
#define NL_RECORD_H

#include "verify/error_file.h"

/* Compares this run with the record. False: they differ. */
bool record_compare(const error_record *e);

/* False: the file cannot be written. */
bool record_update(const error_record *e);

#endif
