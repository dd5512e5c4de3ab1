/* The tests of the vector words (words.c), compiled once for every instruction set, and their main
 * program (main.c). SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The current call, for the fault handler: "vstore of f16, k = 3, at the end of a page". */
extern char words_call[100];

/* Tests every word. False: why says which is wrong and how. */
#define WORDS_ENTRY(isa) bool words_##isa(char *why, size_t size);
#include "words.inc"
#undef WORDS_ENTRY
