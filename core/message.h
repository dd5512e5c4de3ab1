/* Sets what nl_message() returns. SPDX-License-Identifier: MIT */
#pragma once

/* Sets the note of a call that succeeds but did not run as requested. */
void nl_note(const char *format, ...);
