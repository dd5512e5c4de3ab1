/* Functions that Linux and macOS implement differently.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

/* The processor time of another process, in ns; negative: unknown. */
double processor_ns(pid_t process);

/* Opens a new empty file that has no name; -1: failed. */
int file_without_name(void);

/* Does this si_code mean that a SIGSEGV comes without the address of the access? */
bool has_no_address(int code);

/* The number of the system call that a sandbox refused with SIGSYS. */
int refused_call(const siginfo_t *info);

struct timespec modified_at(const struct stat *file);
