/* Tests the vector words of the named instruction sets, or of all. Needs only the C library, so
 * that it can be built for another processor and run in an emulator. Exit code: 0 right, 1 wrong,
 * 77 this processor lacks the instruction set. SPDX-License-Identifier: MIT */
#include "normlab.h"
#include "words.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char words_call[100], words_why[300];

static const struct {
    const char *isa;
    bool (*right)(void);
} tests[] = {
#define WORDS_ENTRY(isa) {#isa, words_##isa},
#include "words.inc"
};

/* A signal handler must not call printf(). */
static void on_fault(int number) {
    static const char fault[] = "FAIL  accessed memory outside its arguments: ";
    size_t length = strlen(words_call);
    words_call[length++] = '\n';
    bool said = write(1, fault, sizeof fault - 1) > 0 && write(1, words_call, length) > 0;
    _exit(number == SIGSEGV && said ? 1 : 2);
}

int main(int argc, char **argv) {
    size_t right = 0, wrong = 0;
    signal(SIGSEGV, on_fault);
    signal(SIGBUS, on_fault);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        bool wanted = argc == 1;
        for (int k = 1; k < argc; k++) wanted |= strcmp(argv[k], tests[i].isa) == 0;
        if (!wanted) continue;
        if (!nl_isa_runs(tests[i].isa)) {
            printf("SKIP  the words of %s, which this processor lacks\n", tests[i].isa);
            continue;
        }
        bool ok = tests[i].right();
        printf("%s the words of %s%s%s\n", ok ? "ok   " : "FAIL ", tests[i].isa, ok ? "" : ": ",
               ok ? "" : words_why);
        fflush(stdout);
        ok ? right++ : wrong++;
    }
    return wrong ? 1 : right ? 0 : 77;
}
