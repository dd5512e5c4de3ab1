/* Passes: whole measurements in fresh processes. A pass has a folder, which exists only if the pass
 * is complete.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/case_options.h"

#include <stdbool.h>

typedef struct pass_plan {
    int passes;         /* number of passes to make */
    const char *folder; /* created if it does not exist; passes are added to it */
    const void *context;
    bool (*run)(const void *context, const char *folder, unsigned seed); /* makes one pass */
} pass_plan;

/* The path of the folder of this processor's passes, in static memory. */
const char *passes_folder(void);

/* Makes the passes, one after another. Ctrl-C ends the current pass, which leaves no folder. False:
 * after a message. */
bool passes_make(const pass_plan *p);

/* The words of a command: initially {0}. */
typedef struct process {
    char **argv;
    size_t count;
    bool lost;  /* a word is missing, for lack of memory */
    int number; /* number in its pass, from 1, which NL_PASS gets; 0: it is the only process */
} process;
__attribute__((format(printf, 2, 3))) void process_word(process *p, const char *format, ...);

/* Runs this program again with other words, even if its file was rebuilt, and frees the words.
 * Shows the child's stderr, not its stdout. Returns the child's exit code, or -1. */
int process_run(process *p);

/* The name by which this program was called: argv[0]. */
extern const char *process_program;

/* `normlab bench --passes`. */

/* Makes the passes in the folder of --out, or in a temporary one, and shows all passes of the
 * folder as one table. Returns the exit code. */
int bench_passes(const case_options *o);
