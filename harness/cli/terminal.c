/* SPDX-License-Identifier: MIT */
#include "cli/terminal.h"
#include "base/clock.h"
#include "base/interrupt.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is `out` a terminal that can rewrite a line? */
static bool live(FILE *out) {
    const char *term = getenv("TERM");
    return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

bool colour_wanted(FILE *out) {
    const char *no = getenv("NO_COLOR");
    return live(out) && !(no && *no);
}

void progress_clear(void) {
    if (live(stderr)) fprintf(stderr, "\r\033[K");
}

void progress(size_t done, size_t total, const char *what) {
    static double start, shown;
    static bool printed;
    double now = clock_ns();
    bool terminal = live(stderr);
    if (done == 0 || start == 0) /* on a terminal, shows the first step immediately */
        start = now, shown = terminal ? 0 : now, printed = false;
    if (done == total) {
        if (printed) progress_clear();
        start = 0;
        return;
    }
    if (now - shown < (terminal ? 1e8 : 1e10)) return;
    shown = now, printed = true;
    char left[40] = "";
    if (done && now - start > 2e8)
        snprintf(left, sizeof left, "about %.0f s left: ",
                 (now - start) / (double)done * (double)(total - done) / 1e9);
    progress_clear();
    fprintf(stderr, "[%zu/%zu] %s%.70s%s", done, total, left, what, terminal ? "" : "\n");
}

bool progress_interrupted(void) {
    if (!interrupted()) return false;
    progress(1, 1, "");
    fprintf(stderr, "interrupted; what was measured is kept\n");
    return true;
}

void print_folded(FILE *out, int indent, const char *text) {
    enum { WIDTH = 100 };
    const bool folds = isatty(fileno(out));
    while (folds && strlen(text) > (size_t)(WIDTH - indent)) {
        int end = WIDTH - indent;
        while (end > WIDTH / 4 && text[end] != ' ') end--;
        fprintf(out, "%*s%.*s\n", indent, "", end, text);
        text += end + (text[end] == ' ');
    }
    fprintf(out, "%*s%s\n", indent, "", text);
}

const char *human_ns(double ns, char text[32]) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int u = 0;
    while (ns >= 999.5 && u < 3) ns /= 1000, u++;
    snprintf(text, 32, "%.*f %s", ns < 9.995 ? 2 : ns < 99.95 ? 1 : 0, ns, units[u]);
    return text;
}

const char *human_bytes(size_t bytes, char text[32]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int u = 0;
    double v = (double)bytes;
    while (v >= 1024 && u < 3) v /= 1024, u++;
    snprintf(text, 32, "%.4g %s", v, units[u]);
    return text;
}
