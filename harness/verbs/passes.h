/* Passes: whole measurements in fresh processes, each in a folder that is whole or not there.
 * SPDX-License-Identifier: MIT */
#ifndef NL_PASSES_H
#define NL_PASSES_H

#include <stdbool.h>

typedef struct pass_plan {
    int passes;         /* to make */
    const char *folder; /* made if it is not there; passes are added */
    const void *context;
    bool (*run)(const void *context, const char *folder, unsigned seed); /* one, into its folder */
} pass_plan;

/* The folder of this processor's passes, in memory of its own. */
const char *passes_folder(void);

/* Makes them, one after another. Ctrl-C ends the last one, which then is not there. False: after a
 * message. */
bool passes_make(const pass_plan *p);

/* Runs this very program, even when another was built meanwhile, and shows its words, not its results.
 * Returns its exit code, or -1. */
int process_run(char **argv);

/* How this program was called: argv[0]. */
extern const char *process_program;

#endif
