/* Describes the machine that results were measured on. SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Writes "key: value" lines: processor, caches, memory, system, compiler, flags, commit, long
 * double, threads, peers, date, doctor. kernels: a hash of their sources and compile flags. */
void machine_write(FILE *out);

/* Writes x.machine.txt beside the results x.csv: the lines of machine_write(), whether --quick was
 * used, and `loaded`, the checksum of loaded kernels (NULL: none). */
bool machine_write_beside(const char *csv_path, bool quick, const char *loaded);

/* The processor's name as the name of a folder; "AMD-EPYC-25-17" includes family and model. */
void machine_name(char *text, size_t size);

/* The hash of the kernels. Results with the same machine and hash can be pooled. */
const char *machine_kernels(void);
