/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "peers/peers.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

static int count_runtimes(struct dl_phdr_info *info, size_t size, void *count) {
    (void)size;
    for (const char *const *name = (const char *const[]){"libgomp", "libiomp", "libomp", NULL};
         *name; name++)
        if (strstr(info->dlpi_name, *name)) ++*(int *)count;
    return 0;
}

bool one_openmp_runtime(const char *peer, void (*note)(const char *text)) {
    int runtimes = 0;
    char text[200];
    dl_iterate_phdr(count_runtimes, &runtimes);
    if (runtimes <= 1) return true;
    snprintf(text, sizeof text,
             "normlab: %s is left out: it loads a second OpenMP runtime (docs/peers.md)", peer);
    note(text);
    return false;
}
