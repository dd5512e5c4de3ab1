/* Timed kernels and their .scratch run in this process. If one of them ends it, the program names
 * the kernel and does not exit with 0. SPDX-License-Identifier: MIT */
#pragma once

/* Until blame_nobody(), a call of exit() in this process ends it with `code`. */
void blame_watch(int code);
void blame_nobody(void);
