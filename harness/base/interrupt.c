/* SPDX-License-Identifier: MIT */
#include "base/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t noted;

static void on_interrupt(int signal_number) {
    noted = 1;
    signal(signal_number, SIG_DFL);
}

void interrupt_watch(void) {
    signal(SIGINT, on_interrupt);
}

void interrupt_as_usual(void) {
    signal(SIGINT, SIG_DFL);
}

bool interrupted(void) {
    return noted;
}
