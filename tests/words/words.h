/* The tests of the vector words (words.c, memory.c), compiled once for every instruction set, and
 * their main program (main.c). SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The current call, for the fault handler: "vstore, f16, k = 3 of 8, at a page's end". */
extern char words_call[100];

/* A message about the wrong word. */
extern char words_why[300];

/* The name of a function for the instruction set being compiled. */
#define WORDS_JOIN_(a, b) a##b
#define WORDS_JOIN(a, b) WORDS_JOIN_(a, b)

/* Is every word right? */
#define WORDS_ENTRY(isa) bool words_##isa(void), words_in_memory_##isa(void);
#include "words.inc"
#undef WORDS_ENTRY
