/* LIBXSMM's primitives as layers. SPDX-License-Identifier: MIT */
#ifndef NL_LIBXSMM_H
#define NL_LIBXSMM_H

/* Adds LayerNorm and RMSNorm, composed of LIBXSMM's primitives, to the table. note shows
 * messages. */
void libxsmm_register(void (*note)(const char *text));

#endif
