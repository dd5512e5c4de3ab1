/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* kill */
#endif
#include "verify/isolate.h"

#ifdef __linux__

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void orphans_adopt(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The parent's number is the second field after the name, which is in parentheses. */
static bool is_child(const char *pid) {
    char path[300], line[600] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%.200s/stat", pid);
    FILE *f = fopen(path, "r");
    if (f && !fgets(line, sizeof line, f)) *line = '\0';
    if (f) fclose(f);
    const char *end = strrchr(line, ')');
    return end && sscanf(end, ") %*c %d", &parent) == 1 && parent == getpid();
}

void orphans_end(void) {
    for (bool more = true; more;) { /* this process adopts the children of one that ends */
        DIR *all = opendir("/proc");
        more = false;
        for (const struct dirent *one; all && (one = readdir(all));) {
            const int pid = atoi(one->d_name);
            if (pid <= 0 || !is_child(one->d_name)) continue;
            kill(pid, SIGKILL);
            more = waitpid(pid, NULL, 0) == pid || more;
        }
        if (all) closedir(all);
    }
}

#else

void orphans_adopt(void) {
}

void orphans_end(void) {
}

#endif
