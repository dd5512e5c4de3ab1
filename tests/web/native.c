/* For each case of a file and each implementation in plain C that takes the case, prints a line
 * with the hash of the outputs, the verdict and the largest error. bits.js expects the same lines
 * from WebAssembly. SPDX-License-Identifier: MIT */
#include "web.h"
#include "cases/case.h"

#include <stdio.h>
#include <string.h>

static int try_case(const char *spelling) {
    char name[256];
    strcpy(web_text(), spelling);
    if (!web_open()) return fprintf(stderr, "%s: %s\n", spelling, web_text()), 1;
    for (int i = 0, takes; (takes = web_accepts(i)) >= 0; i++) {
        if (!takes) continue;
        snprintf(name, sizeof name, "%s", web_text());
        const int outcome = web_call();
        if (outcome < 0) return fprintf(stderr, "%s %s: %s\n", spelling, name, web_text()), 1;
        const double error = web_numbers(1)[0];
        web_hash();
        printf("%s\t%s\t%s\t%d\t%.9g\n", spelling, name, web_text(), outcome, error);
    }
    return 0;
}

int main(int argc, char **argv) {
    case_list list = {0};
    char error[512];
    int wrong = argc != 2;
    if (wrong || !cases_add_file(&list, argv[1], error, sizeof error))
        return fprintf(stderr, "%s\n", wrong ? "which file of cases?" : error), 2;
    for (size_t i = 0; i < list.count; i++) wrong += try_case(list.items[i].text);
    cases_free(&list);
    return wrong != 0;
}
