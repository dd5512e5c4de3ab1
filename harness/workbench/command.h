/* A command line, word by word, and a child process that runs it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { COMMAND_WORDS = 128, COMMAND_PATH = 4096 };

typedef struct command {
    char text[5 * COMMAND_PATH];
    size_t used;
    char *argv[COMMAND_WORDS + 1];
    int count;
    bool too_long; /* a word did not fit */
} command;

void command_add(command *c, const char *format, ...);
void command_words(command *c, const char *words); /* which spaces separate */

/* False: it failed. error says why if it could not run; otherwise the command has printed why. */
bool command_run(command *c, char *error, size_t size);

/* Runs a command on untrusted input: in this folder, with a fixed environment, without a terminal
 * or the network, and with limits on time, memory and files. output, messages: files of the folder
 * for stdout and stderr; messages NULL: stderr. */
bool command_run_fenced(command *c, const char *folder, const char *output, const char *messages,
                        char *error, size_t size);
