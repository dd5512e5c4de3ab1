/* What `normlab` returns: 0 done; 1 something failed verification, or nothing was compared; 2 bad
 * usage or bad input; 130 interrupted, with the results so far kept.
 * SPDX-License-Identifier: MIT */
#ifndef NL_EXIT_CODES_H
#define NL_EXIT_CODES_H

enum { NL_EXIT_OK = 0, NL_EXIT_FAILED = 1, NL_EXIT_USAGE = 2, NL_EXIT_INTERRUPTED = 130 };

#endif
