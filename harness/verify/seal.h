/* Keeps a process from the rest of the machine. SPDX-License-Identifier: MIT */
#ifndef NL_SEAL_H
#define NL_SEAL_H

#include <stdbool.h>
#include <stddef.h>

/* A KERNEL gets SIGSYS if it starts or signals a process, opens a file for writing, changes one, or
 * uses the network. A COMPILER gets an error if it uses the network or another process's memory. */
typedef enum seal_kind { SEAL_KERNEL, SEAL_COMPILER } seal_kind;

/* Seals all threads of this process for good. Without libseccomp it does nothing. */
void seal(seal_kind kind);

/* The name of the system call with this number. False: a build without libseccomp. */
bool seal_call(int number, char *name, size_t size);

#endif
