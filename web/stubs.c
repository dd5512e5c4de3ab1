/* What a browser lacks: Ctrl-C, kernels of shared libraries. SPDX-License-Identifier: MIT */
#include "base/interrupt.h"
#include "workbench/load.h"

#include <stdio.h>

bool interrupted(void) {
    return false;
}

void interrupt_watch(void) {
}

void interrupt_as_usual(void) {
}

bool load_any(const char *file, char *error, size_t error_size) {
    (void)file;
    snprintf(error, error_size, "a page loads no kernels");
    return false;
}
