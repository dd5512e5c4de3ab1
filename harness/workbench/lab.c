/* SPDX-License-Identifier: MIT */
#include "workbench/lab.h"

#include "kernel_build.h" /* generated: BUILD_SOURCE */

#include <string.h>
#include <sys/stat.h>

static const lab labs[] = {
#include "labs.inc" /* generated: cmake/labs.cmake */
};

const lab *lab_at(size_t i) {
    return i < sizeof labs / sizeof *labs ? &labs[i] : NULL;
}

const lab *lab_find(const char *name) {
    if (strncmp(name, "labs/", 5) == 0) name += 5;
    size_t length = strlen(name);
    while (length && name[length - 1] == '/') length--;
    for (const lab *l = labs; l < labs + sizeof labs / sizeof *labs && length; l++) {
        const size_t number = strspn(l->name, "0123456789");
        if ((length == strlen(l->name) || length == number) && strncmp(name, l->name, length) == 0)
            return l;
    }
    return NULL;
}

static const char *copy_line(const char *from, char text[100]) {
    snprintf(text, 100, "%.*s", (int)strcspn(from, "\n"), from);
    return text;
}

const char *lab_title(const lab *l, char text[100]) {
    return copy_line(l->page + strspn(l->page, "# "), text);
}

const char *lab_takes(const lab *l, char text[100]) {
    static const char key[] = "\nTakes: ";
    const char *line = strstr(l->page, key);
    return copy_line(line ? line + strlen(key) : "", text);
}

void lab_write_page(const lab *l, FILE *out) {
    static const char project[] = "](../../";
    const char *at = l->page;
    for (const char *link; (link = strstr(at, project)); at = link + strlen(project))
        fprintf(out, "%.*s](%s/", (int)(link - at), at, BUILD_SOURCE);
    fputs(at, out);
}

bool lab_assignment(const char *what, assignment *out, char *error, size_t size) {
    char path[4096];
    struct stat about;
    const bool folder = stat(what, &about) == 0 && S_ISDIR(about.st_mode);
    snprintf(path, sizeof path, folder ? "%s/assignment.txt" : "%s", what);
    if (stat(path, &about) == 0) return assignment_read(path, out, error, size);
    const lab *l = lab_find(what);
    if (l && l->assignment) return assignment_parse(l->name, l->assignment, out, error, size);
    if (l)
        snprintf(error, size,
                 "the lab %s is not graded by the program: its page says how to grade it", l->name);
    else if (folder)
        snprintf(error, size, "the folder %s has no assignment.txt", what);
    else
        snprintf(error, size, "%s is no file, no folder and no lab: `normlab lab` lists the labs",
                 what);
    return false;
}
