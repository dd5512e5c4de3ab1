/* Finds what all failing cases have in common and other cases lack. SPDX-License-Identifier: MIT */
#pragma once

#include "cases/case.h"

typedef enum case_state { CASE_NOT_RUN, CASE_RIGHT, CASE_FAILED } case_state;

/* "all 12 have residual and c >= 8193, of which 12 of 13 fail"; empty if fewer than three fail, or
 * nothing tells them from the others. states: how each case ended. */
void when_text(const nl_case *cases, const unsigned char *states, size_t count, char *text,
               size_t size);
