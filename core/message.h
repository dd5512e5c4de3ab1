/* What nl_message() returns. SPDX-License-Identifier: MIT */
#ifndef NL_MESSAGE_H
#define NL_MESSAGE_H

/* Notes what a call does other than it was told, although it succeeds. */
void nl_note(const char *format, ...);

#endif
