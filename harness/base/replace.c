/* SPDX-License-Identifier: MIT */
#include "base/replace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void forget(replacement *r) {
    free(r->target), free(r->temporary);
    *r = (replacement){0};
}

/* Makes a new file in the target's folder, since rename() works within one file system only. */
static void create_beside(replacement *r) {
    const char *slash = strrchr(r->target, '/');
    const int folder = slash ? (int)(slash + 1 - r->target) : 0;
    const size_t size = (size_t)folder + 64;
    r->temporary = malloc(size);
    for (int i = 0; r->temporary && !r->file && i < 100; i++) {
        snprintf(r->temporary, size, "%.*s.normlab-%ld-%d.part", folder, r->target, (long)getpid(),
                 i);
        r->file = fopen(r->temporary, "wbx");
        if (!r->file && errno != EEXIST) break;
    }
}

bool replace_begin(replacement *r, const char *path) {
    struct stat st;
    const bool exists = stat(path, &st) == 0;
    *r = (replacement){0};
    if (exists && !S_ISREG(st.st_mode)) return (r->file = fopen(path, "wb")) != NULL;
    if (exists && access(path, W_OK) != 0) return false;
    r->target = realpath(path, NULL); /* if the path is a link, replaces its target */
    if (!r->target) r->target = strdup(path);
    if (r->target) create_beside(r);
    if (r->file && (!exists || fchmod(fileno(r->file), st.st_mode & 0777) == 0)) return true;
    const int why = errno;
    if (r->file) replace_end(r, false);
    forget(r);
    errno = why;
    return false;
}

bool replace_end(replacement *r, bool keep) {
    bool ok = keep && fflush(r->file) == 0 && !ferror(r->file);
    int why = errno;
    if (fclose(r->file) != 0 && ok) ok = false, why = errno;
    if (r->temporary && ok && rename(r->temporary, r->target) != 0) ok = false, why = errno;
    if (r->temporary && !ok) remove(r->temporary);
    forget(r);
    errno = why;
    return ok;
}
