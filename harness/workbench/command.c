/* SPDX-License-Identifier: MIT */
#include "workbench/command.h"
#include "verify/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* In the child. A course may need the grader's environment: the paths of programs and of their
 * caches. */
static char **enclose(const fence *f) {
    static const char *const kept[] = {"PATH", "HOME", "CCACHE_DIR", "CCACHE_DISABLE"};
    static char text[6][COMMAND_PATH], *environment[7];
    int n = 0;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (getenv(kept[i]))
            snprintf(environment[n] = text[n], COMMAND_PATH, "%s=%s", kept[i], getenv(kept[i])),
                n++;
    snprintf(environment[n] = text[n], COMMAND_PATH, "TMPDIR=%s", f->folder), n++;
    environment[n] = strcpy(text[n], "LC_ALL=C");
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
    return environment;
}

static bool start(command *c, const fence *f, char *error, size_t size) {
    int status;
    if (c->too_long) return snprintf(error, size, "the command of the compiler is too long"), false;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        if (f) environ = enclose(f);
        execvp(c->argv[0], c->argv);
        _exit(CANNOT_RUN);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN))
        snprintf(error, size, "cannot run the compiler %s; CC in the environment names another",
                 c->argv[0]);
    else if (f && WIFSIGNALED(status))
        snprintf(error, size, "the compiler did not end within %d seconds, or was ended", SECONDS);
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool command_run(command *c, char *error, size_t size) {
    return start(c, NULL, error, size);
}

bool command_run_fenced(command *c, const char *folder, const char *output, const char *messages,
                        char *error, size_t size) {
    return start(c, &(fence){folder, output, messages}, error, size);
}
