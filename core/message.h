/* Sets what nl_message() returns. SPDX-License-Identifier: MIT */
#pragma once

/* Sets the note of a call that succeeds, but not in the way it was asked to run. */
void nl_note(const char *format, ...);
