/* Keeps a process from the rest of the machine. SPDX-License-Identifier: MIT */
#ifndef NL_SEAL_H
#define NL_SEAL_H

#include <stdbool.h>
#include <stddef.h>

/* What is refused: SEAL_ALL is starting a process or a program, signalling another one, opening a
 * file for writing, changing one, and the network; SEAL_BUT_PROCESSES allows processes of its own
 * and their signals. */
typedef enum seal_kind { SEAL_ALL, SEAL_BUT_PROCESSES } seal_kind;

/* From here on a system call that is refused is a SIGSYS, in all threads. Nothing without
 * libseccomp. */
void seal(seal_kind kind);

/* The name of the system call with this number. False: a build without libseccomp. */
bool seal_call(int number, char *name, size_t size);

#endif
