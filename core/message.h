/* Sets what nl_message() returns. SPDX-License-Identifier: MIT */
#pragma once

/* Sets what nl_message() returns after a call that succeeds, but not as requested. */
void nl_note(const char *format, ...);
