/* Keeps a process from the rest of the machine. SPDX-License-Identifier: MIT */
#ifndef NL_SANDBOX_H
#define NL_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

/* A KERNEL gets SIGSYS if it starts or signals a process, opens a file for writing, changes one, or
 * uses the network. A COMPILER gets an error if it uses the network or another process's memory. */
typedef enum sandbox_kind { SANDBOX_KERNEL, SANDBOX_COMPILER } sandbox_kind;

/* Sandboxes all threads of this process for good. Without libseccomp it does nothing. */
void sandbox_enter(sandbox_kind kind);

/* The name of the system call with this number. False: a build without libseccomp. */
bool sandbox_call(int number, char *name, size_t size);

#endif
