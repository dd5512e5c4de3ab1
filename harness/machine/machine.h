/* Describes the machine that results were measured on. SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Writes "key: value" lines: processor, caches, memory, system, compiler, flags, commit, long
 * double, threads, peers, date, doctor. kernels: a hash of their sources and compile flags. */
void machine_write(FILE *out);

/* Writes these lines beside results (x.machine.txt for x.csv), whether --quick was used, and the
 * checksums of loaded kernels, unless NULL. */
bool machine_write_beside(const char *csv_path, bool quick, const char *loaded);

/* The processor's name as the name of a folder; "AMD-EPYC-25-17" includes family and model. */
void machine_name(char *text, size_t size);

/* The hash of the kernels. Results with the same machine and hash can be pooled. */
const char *machine_kernels(void);
