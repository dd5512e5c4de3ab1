/* `normlab lab [LAB]`: lists the labs, or writes the first files of one lab.
 * SPDX-License-Identifier: MIT */
#include "workbench/lab.h"
#include "cli/options.h"
#include "commands/commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "normlab lab [LAB]\n\n"
    "Lists the labs. With LAB (a number or name), writes the lab's page, a kernel file to begin\n"
    "with and the assignment into the current folder, and prints the next step. The lab is in the\n"
    "program, so this works anywhere. Nothing is ever overwritten: if one of the files exists,\n"
    "none is written.\n\n"
    "Exit codes: 0 done, 1 writing failed, 2 bad usage or a file exists.\n\n"
    "Examples:\n"
    "  normlab lab\n"
    "  normlab lab 2\n"
    "  normlab lab 2-one-pass\n"
    "  normlab grade 2 2-one-pass.c\n";

static void list(void) {
    char title[100], takes[100];
    for (size_t i = 0; lab_at(i); i++)
        printf("%-16s %-48s %s\n", lab_at(i)->name, lab_title(lab_at(i), title),
               lab_takes(lab_at(i), takes));
    printf("\n`normlab lab 1` (or a name) writes a lab's files into the current folder.\n");
}

enum { PARTS = 3 };

typedef struct file {
    char path[100];
    const char *text, *about;
} file;

/* False: after a message. */
static bool write_new(const lab *l, const file *f) {
    FILE *out = fopen(f->path, "wx");
    if (out && f->text == l->page) lab_write_page(l, lab_project(), out);
    if (out && f->text != l->page) fputs(f->text, out);
    bool ok = out && !ferror(out);
    if (out) ok = fclose(out) == 0 && ok;
    return ok || options_fail("cannot write %s: %s", f->path, strerror(errno));
}

static int write_lab(const lab *l) {
    const struct {
        const char *end, *text, *about;
    } parts[PARTS] = {{"md", l->page, "the task"},
                      {"c", l->start, "the file to begin with"},
                      {"txt", l->assignment, "the assignment: cases and points"}};
    file files[PARTS];
    size_t count = 0;
    for (int i = 0; i < PARTS; i++) {
        if (!parts[i].text) continue;
        file *f = &files[count++];
        *f = (file){.text = parts[i].text, .about = parts[i].about};
        snprintf(f->path, sizeof f->path, "%s.%s", l->name, parts[i].end);
        if (access(f->path, F_OK) != 0) continue;
        options_fail("%s already exists: rename it, or work in another folder", f->path);
        return NL_EXIT_USAGE;
    }
    for (size_t i = 0; i < count; i++)
        if (!write_new(l, &files[i])) return NL_EXIT_FAILED;
    for (size_t i = 0; i < count; i++) printf("%-20s %s\n", files[i].path, files[i].about);
    printf("\nNext: read %s.md", l->name);
    if (l->start) printf(", work on %s.c, and run\n  normlab try %s.c --watch", l->name, l->name);
    if (l->assignment) printf("\n  normlab grade %s %s.c", l->name, l->name);
    putchar('\n');
    return NL_EXIT_OK;
}

int cmd_lab(int argc, char **argv) {
    int first, code = options_read(argc, argv, help, NULL, 0, true, &first);
    if (code != OPTIONS_DONE) return code;
    if (argc == first) return list(), NL_EXIT_OK;
    const lab *l = lab_find(argv[first]);
    if (argc - first > 1) return options_fail("name at most one LAB"), options_see_help();
    if (!l)
        return options_fail("there is no lab '%s': `normlab lab` lists them", argv[first]),
               NL_EXIT_USAGE;
    return write_lab(l);
}
