/* What a browser lacks: Ctrl-C, kernels of shared libraries. SPDX-License-Identifier: MIT */
#include "base/interrupt.h"
#include "workbench/load.h"

#include <stdio.h>

bool interrupted(void) {
    return false;
}

bool load_kernels(const char *path, const char *origin, char *error, size_t error_size) {
    (void)path, (void)origin;
    snprintf(error, error_size, "a page loads no kernels");
    return false;
}
