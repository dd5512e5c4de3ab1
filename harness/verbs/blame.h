/* Kernels that are timed run in this process, and are asked for their scratch in it: one that ends
 * it is named, and its exit code is never one of success. SPDX-License-Identifier: MIT */
#ifndef NL_BLAME_H
#define NL_BLAME_H

/* From now on until blame_nobody(), whoever calls exit() in this process fails with `code`. */
void blame_watch(int code);
void blame_nobody(void);

#endif
