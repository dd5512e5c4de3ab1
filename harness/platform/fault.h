/* SPDX-License-Identifier: MIT */
#pragma once

enum { ACCESS_UNKNOWN, ACCESS_READ, ACCESS_WRITE, ACCESS_JUMP };

/* What the instruction did that caused SIGSEGV: one of ACCESS_... , from the page fault's error code or
 * the syndrome register in the signal handler's context. */
int fault_access(const void *context);
