/* Describes the machine that results were measured on. SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Writes "key: value" lines: processor, caches, memory, system, compiler, flags, commit, long
 * double, threads, peers, date, doctor. kernels: a hash of their sources and compile flags. */
void machine_write(FILE *out);

/* Writes these lines for a results file, x.machine.txt for x.csv, and whether --quick measured it. */
bool machine_write_beside(const char *csv_path, bool quick);

/* The processor's name as a folder's: "AMD-EPYC-25-17" has its family and model. */
void machine_name(char *text, size_t size);

/* The hash of the kernels: results of the same machine and hash can be pooled. */
const char *machine_kernels(void);
