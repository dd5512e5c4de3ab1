/* SPDX-License-Identifier: MIT */
#include "workbench/lab.h"

#include "kernel_build.h" /* generated: BUILD_SOURCE */

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

const char *lab_project(void) {
    return BUILD_SOURCE;
}

/* Turns a link of a page in labs/NAME, "../../docs/x.md", into a path from the project's folder. */
static void from_project(const lab *l, const char *to, int length, char path[300]) {
    if (length > 6 && strncmp(to, "../../", 6) == 0)
        snprintf(path, 300, "%.*s", length - 6, to + 6);
    else
        snprintf(path, 300, "labs/%s/%.*s", l->name, length, to);
}

void lab_write_page(const lab *l, const char *project, FILE *out) {
    const bool there = access(project, R_OK) == 0;
    for (const char *at = l->page; *at; at++) {
        const char *text = at + (strncmp(at, "![", 2) == 0) + 1, *end = text + strcspn(text, "]");
        const bool link = text[-1] == '[' && strncmp(end, "](", 2) == 0 && end[2] != '#' &&
                          strncmp(end + 2, "http", 4) != 0;
        const int length = link ? (int)strcspn(end + 2, ")") : 0;
        char path[300];
        if (!link) {
            fputc(*at, out);
            continue;
        }
        from_project(l, end + 2, length, path);
        if (there)
            fprintf(out, "%.*s](%s/%s)", (int)(end - at), at, project, path);
        else
            fprintf(out, "%.*s (%s)", (int)(end - text), text, path);
        at = end + 2 + length;
    }
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
