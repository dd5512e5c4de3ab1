/* Settings that another program measures: the layers inside frameworks, by
 * `python -m normlab.frameworks --out FILE.csv`. SPDX-License-Identifier: MIT */
#ifndef NL_ELSEWHERE_H
#define NL_ELSEWHERE_H

#include "claims/claim.h"

/* Fills the settings of the claims that the file measured; all others of frameworks get a reason in
 * why. path NULL: no file. False: error says what is wrong with the file. */
bool elsewhere_read(const char *path, claim *claims, size_t count, char *error, size_t error_size);

#endif
