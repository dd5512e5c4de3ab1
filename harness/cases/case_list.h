/* Lists of cases, from spellings with lists and ranges in braces: {layernorm,rmsnorm},
 * {128..8192*2} (times 2), {1..67} (plus 1), {1..64+7} (plus 7). SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

enum { CASES_MAX = 1000000 };

typedef struct case_list {
    nl_case *items;
    size_t count, tried; /* tried: duplicates included; at most CASES_MAX */
    void *texts;         /* their spellings, a search tree */
} case_list;

/* Add the cases of a spelling with braces, where "museum" is those of all exhibits; or of a file,
 * one spelling a line, with comments from '#'. Cases that the list already has are skipped. */
bool cases_add(case_list *list, const char *spelling, char *error, size_t error_size);
bool cases_add_file(case_list *list, const char *path, char *error, size_t error_size);
void cases_free(case_list *list);
