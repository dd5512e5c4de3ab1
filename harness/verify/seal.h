/* Keeps a process from the rest of the machine. SPDX-License-Identifier: MIT */
#ifndef NL_SEAL_H
#define NL_SEAL_H

#include <stdbool.h>
#include <stddef.h>

/* What is refused: to a KERNEL, starting a process or a program, signalling another one, opening a
 * file for writing, changing one, and the network, by a SIGSYS; to a COMPILER, the network and the
 * memory of other processes, by an error. */
typedef enum seal_kind { SEAL_KERNEL, SEAL_COMPILER } seal_kind;

/* From here on, in all threads. Nothing without libseccomp. */
void seal(seal_kind kind);

/* The name of the system call with this number. False: a build without libseccomp. */
bool seal_call(int number, char *name, size_t size);

#endif
