/* Work in a process of its own. SPDX-License-Identifier: MIT */
#include "verify/cell.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

static void leave_a_mark(void *context) {
    cell_alive();
    *(int *)context = 4711;
}

static void never_end(void *context) {
    (void)context;
    for (;;) pause();
}

Test(cell, work_that_ends) {
    char why[300] = "";
    int *mark = cell_memory(sizeof *mark);
    cr_assert(cell_run(leave_a_mark, mark, 60, why, sizeof why), "%s", why);
    cr_assert(*mark == 4711, "%d", *mark);
}

Test(cell, work_that_does_not_end) {
    char why[300] = "";
    cr_assert(!cell_run(never_end, NULL, 0.1, why, sizeof why));
    cr_assert(strstr(why, "an endless loop?"), "%s", why);
}
