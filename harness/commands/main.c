/* `normlab COMMAND ...`. SPDX-License-Identifier: MIT */
#include "machine/machine.h"
#include "tuning.h"
#include "cli/options.h"
#include "cli/passes.h"
#include "commands/commands.h"
#include "workbench/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The peers that the build found; NL_PEERS is a list like PEER(onednn). */
#define PEER(name) void name##_register(void (*note)(const char *text));
NL_PEERS
#undef PEER
#define PEER(name) name##_register,
static void (*const peers[])(void (*note)(const char *text)) = {NL_PEERS NULL};
#undef PEER

/* Loading other libraries takes time, so only commands that name or show peers load the peers. */
static bool wants_peers(int argc, char **argv) {
    bool wants = argc > 1 && (strcmp(argv[1], "list") == 0 || strcmp(argv[1], "--version") == 0);
    for (int i = 1; i < argc; i++) wants |= strstr(argv[i], "peer/") != NULL;
    return wants;
}

static void note(const char *text) {
    fprintf(stderr, "%s\n", text);
}

static const struct subcommand {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
} subcommands[] = {
    {"list", cmd_list, "the table of implementations"},
    {"check", cmd_check, "verify implementations against the long-double reference"},
    {"new", cmd_new, "write a kernel file to begin with"},
    {"try", cmd_try, "compile one kernel file, verify and time it, in seconds"},
    {"lab", cmd_lab, "list the labs, or write the first files of a lab"},
    {"grade", cmd_grade, "grade one kernel file by an assignment"},
    {"bench", cmd_bench, "verify, then time"},
    {"count", cmd_count, "count instructions and cache misses instead of timing"},
    {"limit", cmd_limit, "measure this machine's limit"},
    {"tune", cmd_tune, "measure from which size streaming stores and threads pay here"},
    {"doctor", cmd_doctor, "find what would spoil a measurement on this machine"},
    {"compare", cmd_compare, "compare two result files: faster, slower or the same?"},
    {"claims", cmd_claims, "do claims about LayerNorm and RMSNorm hold here?"},
    {"study", cmd_study, "run experiments that no list of cases can express"},
    {"run", cmd_run, "compute a layer on your own .npy arrays"},
    {"judge", cmd_judge, "is anybody's output right, and if not, what went wrong?"},
};
enum { SUBCOMMANDS = sizeof subcommands / sizeof *subcommands };

static void usage(FILE *out) {
    fprintf(out, "normlab COMMAND [options] [CASE... | FILE...]\n\n");
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        fprintf(out, "  %-10s %s\n", subcommands[i].name, subcommands[i].about);
    fprintf(out,
            "\nA case is op/pass/dtype/NxC[xS]/data, with lists and ranges in braces:\n"
            "  normlab check layernorm/forward/f32/64x1024/normal\n"
            "  normlab bench '{layernorm,rmsnorm}/forward/f32/64x{128..8192*2}/normal'\n\n"
            "`normlab help COMMAND` explains a command; `normlab --version` describes build and "
            "machine.\n"
            "NL_ISA=c (or sse2, avx2, ...) in the environment disables wider vectors.\n"
            "Exit codes: 0 done, 1 something was wrong or nothing was compared, 2 bad usage.\n");
}

/* On a full disk, perhaps only the last write to stdout fails. */
static int finish(int code) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    if (code == NL_EXIT_OK) fprintf(stderr, "normlab: writing to stdout: %s\n", strerror(errno));
    return code == NL_EXIT_OK ? NL_EXIT_FAILED : code;
}

/* With a bad tuning file the library keeps its defaults. The program rejects a bad file, except in
 * commands that replace or report the file. */
static bool tuning_is_good(void) {
    char why[300];
    nl_tuning unused = {0};
    if (nl_tuning_check(&unused, why, sizeof why)) return true;
    fprintf(stderr,
            "normlab: %s\nnormlab: write it with `normlab tune --out FILE`, or unset NL_TUNING\n",
            why);
    return false;
}

/* The library ignores an unknown NL_ISA and would use all ISAs, so the program rejects it. */
static bool isa_is_known(void) {
    const char *isa = getenv("NL_ISA");
    if (!isa || !*isa) return true;
    for (size_t i = 0; i < nl_impl_count(); i++)
        if (strcmp(nl_impl_at(i)->isa, isa) == 0) return true;
    fprintf(stderr, "normlab: NL_ISA is '%s' and should be one of:", isa);
    for (size_t i = 0, k = 0; i < nl_impl_count(); k = ++i) {
        while (k > 0 && strcmp(nl_impl_at(k - 1)->isa, nl_impl_at(i)->isa) != 0) k--;
        if (k == 0) fprintf(stderr, " %s", nl_impl_at(i)->isa);
    }
    fputc('\n', stderr);
    return false;
}

/* Opens stdin, stdout and stderr if they are closed: our next open() would get their number. */
static void open_standard(void) {
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDONLY); /* a write to it still fails */
}

static const char *name_of(size_t i) {
    return i < SUBCOMMANDS ? subcommands[i].name : i == SUBCOMMANDS ? "help" : "--version";
}

static int run(int argc, char **argv) {
    if (argc > 0) process_program = argv[0];
    for (size_t i = 0; peers[i] && wants_peers(argc, argv); i++) peers[i](note);
    if (argc < 2) return usage(stderr), NL_EXIT_USAGE;
    static char flag[] = "--help";
    char *helps[] = {argv[0], argc == 3 ? argv[2] : NULL, flag, NULL};
    if (argc == 3 && strcmp(argv[1], "help") == 0) argv = helps;
    for (size_t i = 0; i < SUBCOMMANDS; i++) {
        if (strcmp(argv[1], subcommands[i].name) != 0) continue;
        if (!isa_is_known()) return NL_EXIT_USAGE;
        const bool lenient = subcommands[i].run == cmd_tune || subcommands[i].run == cmd_doctor;
        if (!lenient && !tuning_is_good()) return NL_EXIT_USAGE;
        return finish(subcommands[i].run(argc - 1, argv + 1));
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return usage(stdout), finish(NL_EXIT_OK);
    if (strcmp(argv[1], "--version") == 0) return machine_write(stdout), finish(NL_EXIT_OK);
    fprintf(stderr, "normlab: there is no command '%s'", argv[1]);
    guess_print(argv[1], strlen(argv[1]), name_of, SUBCOMMANDS + 2, "; see `normlab help`");
    return NL_EXIT_USAGE;
}

/* Do stdout and stderr write to one file? Then stdout writes whole lines, so that none is split. */
static bool writes_to_one_file(void) {
    struct stat out, err;
    return !fstat(1, &out) && !fstat(2, &err) && out.st_dev == err.st_dev &&
           out.st_ino == err.st_ino;
}

/* Ends without the exit handlers and destructors of others' kernels, which could set another exit
 * code. Coverage builds need their own. */
static void leave_kernels(int code) {
#ifndef NORMLAB_COVERAGE
    if (!load_checksum()) return;
    fflush(NULL);
    _exit(code);
#endif
    (void)code;
}

int main(int argc, char **argv) {
    open_standard();
    if (writes_to_one_file()) setvbuf(stdout, NULL, _IOLBF, 0);
    blame_watch(NL_EXIT_FAILED);
    const int code = run(argc, argv);
    blame_nobody();
    leave_kernels(code);
    return code;
}
