/* Keeps a process from the rest of the machine. SPDX-License-Identifier: MIT */
#ifndef NL_SEAL_H
#define NL_SEAL_H

#include <stdbool.h>
#include <stddef.h>

/* From here on a system call that would start a process, signal another one, open a file for
 * writing, change one, or reach the network is a SIGSYS. Nothing without libseccomp. */
void seal(void);

/* The name of the system call with this number. False: a build without libseccomp. */
bool seal_call(int number, char *name, size_t size);

#endif
