/* The parts of an examination, each in its own file. Every part adds its findings.
 * SPDX-License-Identifier: MIT */
#ifndef NL_PARTS_H
#define NL_PARTS_H

#include "machine/exam.h"

void load_begin(exam *e); /* fills load; call before any thread starts */
void load_count(const exam *e, counters *c);
void examine_load(exam *e);
void cpus_begin(exam *e); /* fills cpu, cpus, online, mask_known */
void examine_cpus(exam *e);
void examine_memory(exam *e);
void examine_system(exam *e);
void examine_probes(exam *e);
void examine_threads(exam *e);

#endif
