/* What nl_message() returns. SPDX-License-Identifier: MIT */
#pragma once

/* Notes what a call does other than it was told, although it succeeds. */
void nl_note(const char *format, ...);
