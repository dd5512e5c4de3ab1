/* oneDNN's layers. SPDX-License-Identifier: MIT */
#ifndef NL_ONEDNN_H
#define NL_ONEDNN_H

/* Adds the layers that oneDNN has on this processor to the table of implementations. note shows
 * messages, now and whenever a call fails. */
void onednn_register(void (*note)(const char *text));

#endif
