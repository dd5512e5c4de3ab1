/* Each allocation of a command fails in turn. The program must end with a message and an exit code,
 * or print its usual output. SPDX-License-Identifier: MIT */
#include "base/npy.h"
#include "folder.h"
#include "commands/commands.h"
#include "wrap.h"

#include <sys/wait.h>

enum { WORDS = 12, TEXT = 1 << 14, PLENTY = 1000000 };

typedef struct command {
    int (*run)(int, char **);
    const char *words[WORDS];
} command;

static const command commands[] = {
    {cmd_check, {"check", "--impl", "rmsnorm/*", "rmsnorm/{forward,backward}/f16/3x5/normal"}},
    {cmd_bench,
     {"bench", "--seconds", "0.0001", "--impl", "rmsnorm/naive", "rmsnorm/forward/f32/3x5/normal"}},
    {cmd_run, {"run", "layernorm", "--x", "x.npy", "--out", "y.npy", "--mean-out", "mean.npy"}},
    {cmd_run, {"run", "layernorm", "--x", "x.npy", "--out", "y.npy", "--impl", "reference"}},
    {cmd_judge, {"judge", "layernorm", "--x", "x.npy", "--y", "y.npy"}}, /* y.npy is from `run` */
    {cmd_compare, {"compare", "a.csv", "b.csv"}},
    {cmd_claims, {"claims", "counted.txt", "raced.txt", "--seconds", "0.0001"}},
    {cmd_study, {"study", "--quick", "eps"}},
};

/* Runs a command in a new process, where `successes` allocations succeed and the next one fails.
 * Returns its status. *all: no allocation failed. */
static int attempt(const command *c, long successes, bool *all) {
    char *argv[WORDS + 1] = {NULL};
    int argc = 0, status = 0;
    for (; argc < WORDS && c->words[argc]; argc++) argv[argc] = (char *)c->words[argc];
    const pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("stdout", "w", stdout) || !freopen("stderr", "w", stderr)) _exit(99);
        allocations_left = successes;
        const int code = c->run(argc, argv);
        if (allocations_left >= 0) spill("all", "", 0);
        allocations_left = -1;
        fflush(NULL);
        _exit(code); /* exit() may wait for Criterion's thread, which fork() did not copy */
    }
    waitpid(pid, &status, 0);
    *all = remove("all") == 0;
    return status;
}

static const char *read_text(const char *file, char text[TEXT]) {
    FILE *f = fopen(file, "r");
    text[f ? fread(text, 1, TEXT - 1, f) : 0] = '\0';
    if (f) fclose(f);
    return text;
}

/* Are two outputs of a command equal? If it prints times, only the line counts are compared. */
static bool same(const command *c, const char *a, const char *b) {
    if (c->run != cmd_bench && c->run != cmd_claims) return strcmp(a, b) == 0;
    int more = 0;
    for (; *a; a++) more += *a == '\n';
    for (; *b; b++) more -= *b == '\n';
    return more == 0;
}

static void begin(void) {
    static const char header[] = "case,impl,isa,threads,verdict,ns,ns_low,ns_high\n",
                      claim[] = "claim: a\nsource: a test\nmargin: 0\npredicate: = 0\n"
                                "where: naive forward/f32/4x64/normal\nquantity: ";
    char text[300], error[300] = "";
    enter_folder("");
    cr_assert(chdir(folder) == 0);
    cr_assert(npy_write("x.npy", 'f', 2, (size_t[]){2, 3}, (float[]){1, 2, 3, 4, 6, 9}, error,
                        sizeof error),
              "%s", error);
    spill("a.csv", text, (size_t)sprintf(text, "%sa,i/x,c,1,ok,10,9,11\n", header));
    spill("b.csv", text, (size_t)sprintf(text, "%sa,i/x,c,1,ok,20,19,21\n", header));
    spill("counted.txt", text, (size_t)sprintf(text, "%sparameters\n", claim));
    spill("raced.txt", text, (size_t)sprintf(text, "%ssaving\n", claim));
}

TestSuite(no_memory, .init = begin, .fini = leave_folder);

Test(no_memory, is_noticed_by_every_command) {
    static char whole[TEXT], out[TEXT], words[TEXT];
    for (const command *c = commands; c < commands + sizeof commands / sizeof *commands; c++) {
        bool all;
        const int code = attempt(c, PLENTY, &all);
        read_text("stdout", whole);
        cr_assert(all && WIFEXITED(code) && WEXITSTATUS(code) < 2, "%s: status %#x, %s",
                  c->words[0], code, read_text("stderr", words));
        all = false;
        for (long i = 0; !all; i++) {
            const int status = attempt(c, i, &all);
            const bool lost = status != code || !same(c, read_text("stdout", out), whole);
            const bool says =
                WIFEXITED(status) && WEXITSTATUS(status) && *read_text("stderr", words);
            cr_expect(says || !lost, "%s, allocation %ld fails: status %#x and '%s', not '%s'",
                      c->words[0], i, status, out, whole);
        }
    }
}
