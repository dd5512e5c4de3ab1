/* The verbs of the program; argv[0] is the verb. They return the exit code: 0 done; 1 something
 * failed verification or nothing was compared; 2 bad usage or bad input; 130 interrupted, with the
 * results so far kept. SPDX-License-Identifier: MIT */
#ifndef NL_VERBS_H
#define NL_VERBS_H

#include <stddef.h>

enum { NL_EXIT_OK = 0, NL_EXIT_FAILED = 1, NL_EXIT_USAGE = 2, NL_EXIT_INTERRUPTED = 130 };

int verb_list(int argc, char **argv);
int verb_check(int argc, char **argv);
int verb_new(int argc, char **argv);
int verb_try(int argc, char **argv);
int verb_lab(int argc, char **argv);
int verb_grade(int argc, char **argv);
int verb_bench(int argc, char **argv);
int verb_run(int argc, char **argv);
int verb_judge(int argc, char **argv);
int verb_limit(int argc, char **argv);
int verb_doctor(int argc, char **argv);
int verb_compare(int argc, char **argv);
int verb_study(int argc, char **argv);
int verb_claims(int argc, char **argv);
int verb_tune(int argc, char **argv);
int verb_completion(int argc, char **argv);

/* What the words of a verb are, beside options; what else they are, the shell completes. */
typedef enum verb_words {
    OF_FILES,
    OF_IMPLEMENTATIONS,
    OF_CASES,
    OF_FILE_CASES, /* a file, then cases */
    OF_LAYER,      /* the first one; so below */
    OF_LAB,
    OF_SHELL
} verb_words;

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    verb_words words;
    const char *about;
};

extern const struct verb verbs[];
extern const size_t verbs_count;

#endif
