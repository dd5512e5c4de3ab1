/* SPDX-License-Identifier: MIT */
#include "workbench/compile.h"
#include "base/csv.h"
#include "kernel_build.h" /* generated: BUILD_..., and a line ISA_FLAGS(isa, flags) for each ISA */
#include "normlab.h"
#include "verify/worker.h"
#include "workbench/load.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = COMMAND_PATH };

static bool exists(const char *folder, const char *name) {
    char path[PATH];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < PATH && access(path, R_OK) == 0;
}

/* The folder that has core/ and optimized/: the installed folder beside this program, or the
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

/* "try/NAME": cuts a name that is too long, and writes _ for characters that a name cannot have. */
static void name_kernel(const char *file, char name[LOAD_NAME + 1]) {
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    snprintf(name, LOAD_NAME + 1, "try/%.*s", (int)strlen(base) - 2, base);
    for (int i = 4; name[i]; i++) {
        char c = name[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!good && !strchr("_.+-", c)) name[i] = '_';
    }
}

bool compile_prepare(const char *file, compiled *out, char *error, size_t size) {
    *out = (compiled){.isa = "c", .widest = out->widest};
    if (!find_headers(out->headers, &out->installed))
        return snprintf(error, size,
                        "the headers that kernels include are neither in %s nor, relative to this "
                        "program, in %s",
                        BUILD_SOURCE, BUILD_HEADERS),
               false;
    const char *wish = getenv("CC"), *tmp = getenv("TMPDIR");
    out->own = !wish || !*wish || strcmp(wish, BUILD_CC) == 0;
    const bool gone = out->own && access(BUILD_CC, X_OK) != 0;
    snprintf(out->compiler, sizeof out->compiler, "%s", !out->own ? wish : gone ? "cc" : BUILD_CC);
    out->own = out->own && !gone;
    out->vectors = uses_vectors(file, out->headers);
    if (out->vectors) out->isa = out->widest ? out->widest : nl_isa_best();
    name_kernel(file, out->name);
    snprintf(out->folder, sizeof out->folder, "%s/normlab-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(out->folder)) {
        snprintf(error, size, "cannot make a folder %s: %s", out->folder, strerror(errno));
        return *out->folder = '\0', false;
    }
    snprintf(out->library, sizeof out->library, "%s/kernel.so", out->folder);
    return true;
}

void compile_flags(const compiled *c, command *to) {
    command_words(to, c->compiler);
    command_words(to, BUILD_FLAGS " -UNDEBUG"); /* keeps a student's assert() */
    if (c->own) command_words(to, BUILD_OWN_FLAGS);
    if (c->vectors) command_words(to, BUILD_VECTOR_FLAGS);
    command_words(to, flags_of(c->isa));
    command_add(to, "-DNL_NAME=\"%s\"", c->name);
    command_add(to, "-DNL_ISA=%s", c->isa);
    command_add(to, "-DNL_VEC_HEADER=\"vec/%s.h\"", c->isa);
    command_add(to, "-I%s/%s", c->headers, c->installed ? ".." : "include");
    command_add(to, "-I%s/core", c->headers);
    command_add(to, "-I%s/optimized", c->headers);
    command_words(to, "-fPIC");
}

bool compile_kernel(const char *file, compiled *out, char *error, size_t size) {
    command c = {.count = 0};
    *error = '\0';
    if (!compile_prepare(file, out, error, size)) return false;
    compile_flags(out, &c);
    command_add(&c, "%s%s", *file == '/' ? "" : "./", file); /* otherwise the compiler would read
                                                              * @file as options */
    command_words(&c, "-shared -lm -o");
    command_add(&c, "%s", out->library);
    return command_run(&c, error, size);
}

void compile_remove(const compiled *c) {
    DIR *folder = *c->folder ? opendir(c->folder) : NULL;
    for (const struct dirent *one; folder && (one = readdir(folder));)
        if (strcmp(one->d_name, ".") != 0 && strcmp(one->d_name, "..") != 0)
            unlinkat(dirfd(folder), one->d_name, 0);
    if (folder) closedir(folder), rmdir(c->folder);
}

bool compile_and_load(const char *file, compiled *out, char *error, size_t size) {
    bool ok = compile_kernel(file, out, error, size);
    if (!ok && !*error) snprintf(error, size, "does not compile");
    if (ok) ok = load_kernels(out->library, file, error, size);
    compile_remove(out);
    return ok;
}

bool load_any(const char *file, char *error, size_t size) {
    compiled c = {.isa = "c"};
    return ends_with(file, ".c") ? compile_and_load(file, &c, error, size)
                                 : load_kernels(file, file, error, size);
}

enum { SECONDS = 60, FILE_MOST = 64 << 20, CANNOT_RUN = 127 };

extern char **environ;

void command_add(command *c, const char *format, ...) {
    const size_t room = sizeof c->text - c->used;
    char *at = c->text + c->used;
    va_list rest;
    va_start(rest, format);
    const int length = vsnprintf(at, room, format, rest);
    va_end(rest);
    c->too_long |= length < 0 || (size_t)length >= room || c->count == COMMAND_WORDS;
    if (c->too_long) return;
    c->used += (size_t)length + 1;
    c->argv[c->count++] = at;
}

void command_words(command *c, const char *words) {
    for (int n; *(words += strspn(words, " ")); words += n)
        command_add(c, "%.*s", n = (int)strcspn(words, " "), words);
}

typedef struct fence {
    const char *folder, *output, *messages;
} fence;

static void limit(int what, rlim_t most) {
    struct rlimit now;
    if (getrlimit(what, &now) != 0 || now.rlim_cur <= most) return;
    setrlimit(what, &(struct rlimit){most, most});
}

static void redirect(int to, const char *path, int flags) {
    const int from = open(path, flags, 0600);
    if (from < 0 || dup2(from, to) < 0) _exit(CANNOT_RUN);
    close(from);
}

/* Runs in the child. Of the grader's environment it keeps only what a compiler may need: the paths
 * of programs and of their caches. */
static void enclose(const fence *f) {
    static const char *const kept[] = {"PATH", "HOME", "CCACHE_DIR", "CCACHE_DISABLE"};
    enum { KEPT = sizeof kept / sizeof *kept };
    static char *empty[] = {NULL};
    const char *values[KEPT];
    for (size_t i = 0; i < KEPT; i++) values[i] = getenv(kept[i]);
    environ = empty;
    for (size_t i = 0; i < KEPT; i++)
        if (values[i]) setenv(kept[i], values[i], 1);
    setenv("TMPDIR", f->folder, 1), setenv("LC_ALL", "C", 1);
    if (chdir(f->folder) != 0) _exit(CANNOT_RUN);
    redirect(0, "/dev/null", O_RDONLY);
    redirect(1, f->output ? f->output : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC);
    if (f->messages) redirect(2, f->messages, O_WRONLY | O_CREAT | O_TRUNC);
    setsid();
    alarm(2 * SECONDS);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, SECONDS);
    limit(RLIMIT_FSIZE, FILE_MOST);
    limit(RLIMIT_AS, (rlim_t)4 << 30);
    sandbox_enter(SANDBOX_COMPILER);
}

static bool start(command *c, const fence *f, char *error, size_t size) {
    int status;
    if (c->too_long) return snprintf(error, size, "the command of the compiler is too long"), false;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (f) enclose(f);
        execvp(c->argv[0], c->argv);
        _exit(CANNOT_RUN);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN))
        snprintf(error, size, "cannot run the compiler %s: set CC in the environment to another",
                 c->argv[0]);
    else if (f && WIFSIGNALED(status))
        snprintf(error, size,
                 "the compiler took more than %d seconds of processor time, or was killed",
                 SECONDS);
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool command_run(command *c, char *error, size_t size) {
    return start(c, NULL, error, size);
}

bool command_run_fenced(command *c, const char *folder, const char *output, const char *messages,
                        char *error, size_t size) {
    return start(c, &(fence){folder, output, messages}, error, size);
}
