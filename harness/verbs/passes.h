/* Passes of `normlab claims`: each in a fresh process, in a folder that is whole or not there.
 * SPDX-License-Identifier: MIT */
#ifndef NL_PASSES_H
#define NL_PASSES_H

#include "claims/evidence.h"

typedef struct pass_options {
    int passes;         /* to make */
    const char *folder; /* NULL: passes_make() sets it to the processor's */
    const char *races;  /* the child's file */
    char **names;       /* of the claims */
    int name_count;
    double seconds;
    bool quick, stability;
} pass_options;

/* Makes them, one after another. Ctrl-C ends the last one, which then is not there. False: after a
 * message. */
bool passes_make(pass_options *p);

/* Adds all whole passes. False: after a message. */
bool passes_read(const pass_options *p, evidence *e, char *error, size_t error_size);

#endif
