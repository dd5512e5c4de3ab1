/* A temporary folder for a test that writes files. SPDX-License-Identifier: MIT */
#pragma once

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256], path[300]; /* path: a file in the folder */

static inline void enter_folder(const char *file) {
    const char *temporary = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/normlab-XXXXXX", temporary ? temporary : "/tmp");
    cr_assert(mkdtemp(folder), "cannot create %s", folder);
    snprintf(path, sizeof path, "%s/%s", folder, file);
}

static inline void enter_npy(void) {
    enter_folder("a.npy");
}

/* Counts the entries of the folder, and removes them if and_remove. */
static inline int entries(bool and_remove) {
    int count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        char name[600];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%s/%s", folder, e->d_name);
        if (and_remove) remove(name);
        count++;
    }
    if (d) closedir(d);
    return count;
}

static inline void leave_folder(void) {
    entries(true);
    rmdir(folder);
}

static inline void spill(const char *to, const void *bytes, size_t size) {
    FILE *f = fopen(to, "wb");
    cr_assert(f && fwrite(bytes, 1, size, f) == size && fclose(f) == 0, "cannot write %s", to);
}
