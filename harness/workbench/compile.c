/* SPDX-License-Identifier: MIT */
#include "workbench/compile.h"
#include "normlab.h"
#include "workbench/load.h"

#include "kernel_build.h" /* generated: BUILD_..., and a line ISA_FLAGS(isa, flags) for each ISA */

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 96, PATH = 4096 };

extern char **environ;

typedef struct command {
    char text[4 * PATH];
    size_t used;
    char *argv[WORDS + 1];
    int count;
} command;

static char *add(command *c, const char *format, const char *a, const char *b) {
    char *at = c->text + c->used;
    size_t room = sizeof c->text - c->used;
    int length = snprintf(at, room, format, a, b);
    if (length < 0 || (size_t)length >= room || c->count == WORDS) return NULL;
    c->used += (size_t)length + 1;
    return c->argv[c->count++] = at;
}

/* Adds words that are separated by spaces. */
static void add_words(command *c, const char *words) {
    for (const char *end; *words; words = end) {
        char word[300];
        words += strspn(words, " ");
        end = words + strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)(end - words), words);
        if (*word) add(c, "%s%s", word, "");
    }
}

static bool exists(const char *folder, const char *name) {
    char path[PATH];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < PATH && access(path, R_OK) == 0;
}

/* The folder that has core/ and optimized/: the installed one beside this program, or the
 * source. */
static bool find_headers(char folder[PATH], bool *installed) {
    char program[PATH];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = '\0';
        char *slash = strrchr(program, '/');
        snprintf(slash + 1, sizeof program - (size_t)(slash + 1 - program), "%s", BUILD_HEADERS);
        *installed = exists(program, "core/kernel.h");
        if (*installed) return strcpy(folder, program), true;
    }
    strcpy(folder, BUILD_SOURCE);
    return exists(folder, "core/kernel.h");
}

/* Does a line of the file include a header of optimized/? */
static bool uses_vectors(const char *file, const char *headers) {
    char line[1000], name[200], optimized[PATH + 20];
    snprintf(optimized, sizeof optimized, "%s/optimized", headers);
    FILE *f = fopen(file, "r");
    bool found = false;
    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, " # include \"%199[^\"]\"", name) == 1 && exists(optimized, name);
    if (f) fclose(f);
    return found;
}

static const char *flags_of(const char *isa) {
#define ISA_FLAGS(name, flags) {#name, flags},
    static const struct { const char *isa, *flags; } all[] = {BUILD_ISA_FLAGS};
#undef ISA_FLAGS
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].isa, isa) == 0) return all[i].flags;
    return "";
}

/* "try/NAME", cut where it is too long, with a _ for what a name cannot have. */
static void name_kernel(const char *file, char name[LOAD_NAME + 1]) {
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    snprintf(name, LOAD_NAME + 1, "try/%.*s", (int)strlen(base) - 2, base);
    for (int i = 4; name[i]; i++) {
        char c = name[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!good && !strchr("_.+-", c)) name[i] = '_';
    }
}

static bool run(command *c, char *error, size_t size) {
    pid_t child;
    int status = posix_spawnp(&child, c->argv[0], NULL, NULL, c->argv, environ);
    if (status != 0) {
        snprintf(error, size, "cannot run the compiler %s: %s; CC in the environment names another",
                 c->argv[0], strerror(status));
        return false;
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127) /* as some C libraries report it */
        snprintf(error, size, "cannot run the compiler %s", c->argv[0]);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool compile_kernel(const char *file, compiled *out, char *error, size_t size) {
    char headers[PATH], name[LOAD_NAME + 1];
    bool installed;
    command c = {.count = 0};
    *error = '\0', *out->folder = '\0';
    if (!find_headers(headers, &installed))
        return snprintf(error, size,
                        "the headers that kernels include are neither in %s nor, relative to this "
                        "program, in %s",
                        BUILD_SOURCE, BUILD_HEADERS),
               false;
    const char *wish = getenv("CC"), *tmp = getenv("TMPDIR");
    const bool own = !wish || !*wish || strcmp(wish, BUILD_CC) == 0;
    const bool gone = own && access(BUILD_CC, X_OK) != 0;
    const bool vectors = uses_vectors(file, headers);
    snprintf(out->compiler, sizeof out->compiler, "%s", !own ? wish : gone ? "cc" : BUILD_CC);
    out->isa = vectors ? nl_isa_best() : "c";
    snprintf(out->folder, sizeof out->folder, "%s/normlab-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(out->folder)) {
        snprintf(error, size, "cannot make a folder %s: %s", out->folder, strerror(errno));
        return *out->folder = '\0', false;
    }
    snprintf(out->library, sizeof out->library, "%s/kernel.so", out->folder);
    snprintf(out->files, sizeof out->files, "%s/kernel.d", out->folder);
    name_kernel(file, name);

    add_words(&c, out->compiler);
    add_words(&c, BUILD_FLAGS);
    if (own && !gone) add_words(&c, BUILD_OWN_FLAGS);
    if (vectors) add_words(&c, BUILD_VECTOR_FLAGS);
    add_words(&c, flags_of(out->isa));
    add(&c, "-DNL_NAME=\"%s%s\"", name, "");
    add(&c, "-DNL_ISA=%s%s", out->isa, "");
    add(&c, "-DNL_VEC_HEADER=\"vec/%s.h%s\"", out->isa, "");
    add(&c, "-I%s/%s", headers, installed ? ".." : "include");
    add(&c, "-I%s/core%s", headers, "");
    add(&c, "-I%s/optimized%s", headers, "");
    add_words(&c, "-shared -fPIC");
    add(&c, "%s%s", *file == '-' ? "./" : "", file);
    add_words(&c, "-lm -MD -MF");
    add(&c, "%s%s", out->files, "");
    add_words(&c, "-o");
    if (add(&c, "%s%s", out->library, "")) return run(&c, error, size);
    return snprintf(error, size, "the command of the compiler is too long"), false;
}

/* The compiler's list for make: the library, a colon, the file, and what it includes. */
bool compile_is_alone(const compiled *c, char *why, size_t size) {
    char name[PATH], headers[PATH], optimized[PATH + 20];
    bool installed;
    FILE *f = find_headers(headers, &installed) ? fopen(c->files, "r") : NULL;
    bool ok = f != NULL;
    snprintf(optimized, sizeof optimized, "%s/optimized", headers);
    if (!ok) snprintf(why, size, "cannot read %s, where the compiler lists files", c->files);
    for (int i = 0; ok && fscanf(f, "%4095s", name) == 1;) {
        const size_t n = strlen(name);
        const bool more = name[n - 1] == '\\'; /* a space in a name, or the end of a line */
        const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
        ok = i <= 1 || ((n < 2 || strcmp(name + n - 2, ".c") != 0) &&
                        (!*base || strcmp(base, "vec.h") == 0 || !exists(optimized, base)));
        if (!ok) snprintf(why, size, "it includes %.300s, which has a kernel already", name);
        i += !more;
    }
    if (f) fclose(f);
    return ok;
}

void compile_remove(const compiled *c) {
    if (!*c->folder) return;
    unlink(c->library), unlink(c->files);
    rmdir(c->folder);
}
