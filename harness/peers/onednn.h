/* oneDNN's layers. SPDX-License-Identifier: MIT */
#ifndef NL_ONEDNN_H
#define NL_ONEDNN_H

/* Adds what oneDNN has on this processor to the table of implementations. note: for people, now and
 * whenever a call fails. */
void onednn_register(void (*note)(const char *text));

#endif
