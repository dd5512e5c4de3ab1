/* The file of the largest errors: a CSV whose columns after the third are kinds of data. The third
 * names all implementations with these numbers.
 * SPDX-License-Identifier: MIT */
#ifndef NL_ERROR_FILE_H
#define NL_ERROR_FILE_H

#include "verify/error_record.h"

/* Reads the record. With update, the file need not exist yet. False: error says why. */
bool error_record_open(error_record *e, const char *path, bool update, char *error,
                       size_t error_size);
void error_record_close(error_record *e);

/* Rewrites the lines of what ran; *lines: the new number of lines. False: error says why. */
bool error_record_update(const error_record *e, size_t *lines, char *error, size_t error_size);

#endif
